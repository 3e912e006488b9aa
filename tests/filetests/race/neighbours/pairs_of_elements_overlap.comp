#version 450
//! buffer 0 uint 0 1 2 3 4 5 6 7 8
//! finding data-race 10 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = 2 * gl_LocalInvocationIndex;
    // Two elements each; the third one is the neighbour's first.
    uint sum = d[i + 1] + d[i + 2];
    d[i] = sum;
}
