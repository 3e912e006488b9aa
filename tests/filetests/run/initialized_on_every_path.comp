#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 1 3 1 3
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v;
    if (i % 2 == 0) v = 0; else v = 2;
    r[i] = v + 1;
}
