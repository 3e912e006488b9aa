#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*3
//! buffer 1 uint 0
//! expect 1 uint 31
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Message { uint data; uint first; uint second; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        data = 31;
        memoryBarrierBuffer();
        atomicExchange(first, 1u);
    }
    if (i == 1) {
        while (atomicOr(first, 0u) == 0u) {}
        memoryBarrierBuffer();
        atomicExchange(second, 1u);
    }
    if (i == 2) {
        while (atomicOr(second, 0u) == 0u) {}
        memoryBarrierBuffer();
        into = data;
    }
}
