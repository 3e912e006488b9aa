#version 450
//! spec-memory-model
//! buffer 0 int 5 6 7 8 0*4
//! finding data-race 10 13
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = d[i] + int(5);
    barrier();
    memoryBarrier();
    d[4 + i] = d[(i + 1) % 4];
}
