#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0
//! buffer 1 uint 0*4
//! buffer 2 uint 0*4
//! expect 2 uint 2 3 4 1
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Arrived { uint arrived; };
layout(std430, set=0, binding=1) buffer Data { uint d[]; };
layout(std430, set=0, binding=2) buffer Into { uint into[]; };
void meet() {
    memoryBarrierBuffer();
    atomicAdd(arrived, 1u);
    while (atomicOr(arrived, 0u) < gl_WorkGroupSize.x) {}
    memoryBarrierBuffer();
}
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i + 1;
    meet();
    into[i] = d[(i + 1) & 3u];
}
