#version 450
//! spec-memory-model
//! buffer 0 uint 0
//! buffer 1 uint 0*4
//! expect 1 uint 5 5 5 5
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) d = 5;
    if (i == 0) memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    into[i] = d;
}
