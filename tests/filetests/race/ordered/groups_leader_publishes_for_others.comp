#version 450
//! spare 20
//! sequential-only
//! steps 2000000
//! groups 2 1 1
//! buffer 0 uint 0
//! buffer 1 uint 0*2
//! buffer 2 uint 0*2
//! expect 2 uint 12 11
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Flag { uint flag; };
layout(std430, set=0, binding=1) coherent buffer Data { uint d[2]; };
layout(std430, set=0, binding=2) buffer Into { uint into[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (gl_WorkGroupID.x == 0) {
        d[i] = 11 + i;
        memoryBarrierBuffer();
        barrier();
        memoryBarrierBuffer();
        if (i == 0) atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) == 0u) {}
        memoryBarrierBuffer();
        into[i] = d[1 - i];
    }
}
