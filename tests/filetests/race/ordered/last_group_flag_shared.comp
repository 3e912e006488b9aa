#version 450
//! spare 19
//! groups 2 1 1
//! buffer 0 uint 0 0
//! buffer 1 uint 0*4
//! buffer 2 uint 0*2
//! expect 2 uint 4 6
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Finished { uint finished; };
layout(std430, set=0, binding=1) coherent buffer Partial { uint part[4]; };
layout(std430, set=0, binding=2) buffer Into { uint into[2]; };
shared bool last;
void main() {
    uint i = gl_LocalInvocationIndex;
    uint group = gl_WorkGroupID.x;
    part[2 * group + i] = 2 * group + i + 1;
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    if (i == 0) last = atomicAdd(finished, 1u) == 1u;
    memoryBarrierBuffer();
    barrier();
    if (last) into[i] = part[i] + part[2 + i];
}
