#version 450
//! spare 16
//! groups 2 1 1
//! buffer 0 uint 0 0
//! buffer 1 uint 0*4
//! expect 0 uint 2 10
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Result { uint finished; uint total; };
layout(std430, set=0, binding=1) coherent buffer Partial { uint part[4]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint group = gl_WorkGroupID.x;
    part[2 * group + i] = 2 * group + i + 1;
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    if (i == 0) {
        if (atomicAdd(finished, 1u) == 1u) {
            memoryBarrierBuffer();
            total = part[0] + part[1] + part[2] + part[3];
        }
    }
}
