#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 5 6 0 0
//! completion error
//! finding barrier-divergence 12 11
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i >= 2)
        return; 
    barrier(); 
    r[i] = 5 + i;
}
