#version 450
//! buffer 0 uint 0*3
//! buffer 1 uint 1 ? 3
//! finding uninitialized-read 11
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(std430, set=0, binding=1) buffer A { uint a[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v = a[i];
    r[i] = v; 
}
