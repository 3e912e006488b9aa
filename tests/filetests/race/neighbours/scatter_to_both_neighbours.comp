#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! buffer 1 uint 0*8
//! finding data-race 12 13
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    // Each adds to its neighbours' sums; nobody else's place is its own.
    if (i % 2 == 0) into[i + 1] += from[i];
    if (i % 2 == 0) into[(i + 7) % 8] += from[i];
}
