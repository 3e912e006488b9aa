#version 450
//! buffer 0 uint 1 2 3 4
//! expect 0 uint 2 3 4 0
//! finding out-of-bounds 10
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v = i < 3 ? 0 : 1;
    if (i == 3) { v = r[i + 1]; } 
    barrier();
    uint w = i < 3 ? i + 2 : 0;
    r[i] = w;
}
