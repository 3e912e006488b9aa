#version 450
//! sequential-only
//! steps 2000000
//! groups 3 1 1
//! buffer 0 uint 1 2 3 4 5 6
//! buffer 1 uint 0*3
//! buffer 2 uint 0*3
//! expect 1 uint 3 10 21
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) coherent buffer Carry { uint carry[]; };
layout(std430, set=0, binding=2) buffer Flags { uint flags[]; };
void main() {
    uint group = gl_WorkGroupID.x, before = 0;
    if (group > 0) {
        while (atomicOr(flags[group - 1], 0u) == 0u) {}
        memoryBarrierBuffer();
        before = carry[group - 1];
    }
    carry[group] = before + from[2 * group] + from[2 * group + 1];
    memoryBarrierBuffer();
    atomicExchange(flags[group], 1u);
}
