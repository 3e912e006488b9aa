#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*5
//! buffer 1 uint 0
//! finding data-race 14 20
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Slots { uint ready; uint slots[4]; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 3) {
        slots[i] = 10 * (i + 1);
        atomicAdd(ready, 1u);
    } else {
        while (atomicOr(ready, 0u) != 3u) {}
        memoryBarrierBuffer();
        uint sum = 0;
        for (uint k = 0; k < 3; k++) sum += slots[k];
        into = sum;
    }
}
