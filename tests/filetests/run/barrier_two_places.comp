#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 1 1 2 2
//! completion error
//! finding barrier-divergence 11 14
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 2) {
        barrier(); 
        r[i] = 1;
    } else {
        barrier(); 
        r[i] = 2;
    }
}
