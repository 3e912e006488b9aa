#version 450
//! buffer 0 uint 0*4
//! finding uninitialized-read 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v;
    if (i != 2)
        v = i;
    uint w = v;
    r[i] = w + 1; 
}
