#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 1 1 1 1
//! completion error
//! finding barrier-divergence 12 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint k = 0; k < 4; k++) {
        if (k == i) {
            barrier(); 
            r[i] = 1;
        }
    }
}
