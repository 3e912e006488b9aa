#version 450
// The test saves an atomic, but reads what others change.
//! buffer 0 uint 9 2 9 2
//! buffer 1 uint 4
//! finding data-race 13 14
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Lowest { uint lowest; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (from[i] != 2) return;
    if (i < lowest)
        atomicMin(lowest, i);
}
