#version 450
//! buffer 0 uint 0*4
//! completion error
//! expect 0 uint 1 2 3 4
//! finding barrier-divergence 11
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint k = 0; k <= i; k++) {
        barrier(); 
        r[i] += 1;
    }
}
