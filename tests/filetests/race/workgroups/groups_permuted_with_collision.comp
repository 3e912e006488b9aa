#version 450
//! groups 2 1 1
//! buffer 0 uint 3 1 2 1
//! buffer 1 uint 0*4
//! finding data-race 13 13
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) readonly buffer Order { uint order[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    into[order[g]] = g;
}
