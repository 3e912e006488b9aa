#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 1*8
//! completion error
//! finding barrier-divergence 12 14
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = 1;
    if (i < 5) {
        barrier(); 
    }
} 
