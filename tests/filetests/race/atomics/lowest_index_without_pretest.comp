#version 450
//! buffer 0 uint 9 2 9 2
//! buffer 1 uint 4
//! expect 1 uint 1
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Lowest { uint lowest; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (from[i] != 2) return;
        atomicMin(lowest, i);
}
