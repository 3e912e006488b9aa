#version 450
//! buffer 0 uint 10 20 30 40
//! expect 0 uint 40 30 20 10
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint mine = d[3 - i];
    memoryBarrierBuffer();
    barrier();
    d[i] = mine;
}
