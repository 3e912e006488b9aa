#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0
//! buffer 1 uint 1 2 3 4
//! expect 1 uint 2 3 4 1
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Arrived { uint arrived; };
layout(std430, set=0, binding=1) buffer Data { uint d[]; };
void meet(uint round) {
    memoryBarrierBuffer();
    atomicAdd(arrived, 1u);
    while (atomicOr(arrived, 0u) < round * 4u) {}
    memoryBarrierBuffer();
}
void main() {
    uint i = gl_LocalInvocationIndex;
    meet(1);
    uint next = d[(i + 1) & 3u];
    meet(2);
    d[i] = next;
}
