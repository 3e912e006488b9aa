#version 450
//! buffer 0 uint 0 1 2 3 4 5 6 7 8
//! expect 0 uint 1 1 5 3 9 5 13 7 8
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = 2 * gl_LocalInvocationIndex;
    uint sum = d[i] + d[i + 1];
    d[i] = sum;
}
