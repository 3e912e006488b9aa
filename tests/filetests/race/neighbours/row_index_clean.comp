#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 100 101 102 103 104 105 106 107
layout(local_size_x=4, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    uvec3 id = gl_LocalInvocationID;
    uint at = id.y * 4 + id.x;
    into[at] = 100 + id.y * 4 + id.x;
}
