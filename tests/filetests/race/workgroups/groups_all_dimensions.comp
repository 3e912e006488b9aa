#version 450
//! groups 1 2 2
//! buffer 0 uint 0*8
//! expect 0 uint 1*8
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    uvec3 at = gl_GlobalInvocationID;
    into[(at.z * 2 + at.y) * 2 + at.x] += 1;
}
