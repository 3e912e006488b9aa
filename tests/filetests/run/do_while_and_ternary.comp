#version 450
//! buffer 0 uint 0*5
//! expect 0 uint 1 2 4 8 16
layout(local_size_x=5) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v = 1, k = 0;
    do { v = k < i ? v * 2 : v; k++; } while (k < i);
    r[i] = v;
}
