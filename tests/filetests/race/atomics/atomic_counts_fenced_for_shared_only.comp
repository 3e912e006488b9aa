#version 450
//! buffer 0 uint 0*2
//! buffer 1 uint 0*4
//! finding data-race 11 14
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Counts { uint counts[2]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(counts[i & 1u], 1u);
    memoryBarrierShared();
    barrier();
    into[i] = counts[(i + 1) & 1u];
}
