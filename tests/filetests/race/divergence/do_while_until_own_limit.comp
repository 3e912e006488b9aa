#version 450
//! buffer 0 uint 1 2 2 1
//! completion error
//! finding barrier-divergence 12 14
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint k = 0;
    do {
        k++;
        barrier();
    } while (k < d[i]);
}
