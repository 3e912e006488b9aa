#version 450
//! groups 4 1 1
//! buffer 0 uint 3 0 5 1
//! buffer 1 uint 0
//! expect 1 uint 3
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Count { uint count; };
void main() {
    if (from[gl_WorkGroupID.x] == 0) return;
    atomicAdd(count, 1u);
}
