#version 450
//! groups 1 2 2
//! buffer 0 uint 0*8
//! finding data-race 10 10
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    uvec3 at = gl_GlobalInvocationID;
    into[at.y * 2 + at.x] += 1;
}
