#version 450
//! buffer 0 uint 5 6 7 8 0*4
//! expect 0 uint 10 11 12 13 11 12 13 10
//! spare 11
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = d[i] + uint(5);
    memoryBarrierBuffer();
    memoryBarrierImage();
    barrier();
    d[4 + i] = d[(i + 1) % 4];
}
