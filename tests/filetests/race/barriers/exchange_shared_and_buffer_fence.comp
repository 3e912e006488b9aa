#version 450
//! buffer 0 int 5 6 7 8 0*4
//! expect 0 int 10 11 12 13 11 12 13 10
//! spare 10
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = d[i] + int(5);
    memoryBarrierShared();
    memoryBarrierBuffer();
    barrier();
    d[4 + i] = d[(i + 1) % 4];
}
