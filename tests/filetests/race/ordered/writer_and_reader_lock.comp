#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! buffer 1 uint 0*2
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Locked { uint lock; uint data; };
layout(std430, set=0, binding=1) buffer Into { uint into[2]; };
void enter() {
    while (atomicCompSwap(lock, 0u, 1u) != 0u) {}
    memoryBarrierBuffer();
}
void leave() {
    memoryBarrierBuffer();
    atomicExchange(lock, 0u);
}
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        enter();
        data = 6;
        leave();
    }
    if (i > 0) {
        enter();
        into[i - 1] = data;
        leave();
    }
}
