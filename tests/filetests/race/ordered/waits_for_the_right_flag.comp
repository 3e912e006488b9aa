#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*8
//! buffer 1 uint 0*4
//! expect 1 uint 13 10 11 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Messages { uint data[4]; uint flags[4]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    data[i] = 10 + i;
    memoryBarrierBuffer();
    atomicExchange(flags[i], 1u);
    uint from = (i + 3) & 3u;
    while (atomicOr(flags[from], 0u) == 0u) {}
    memoryBarrierBuffer();
    into[i] = data[from];
}
