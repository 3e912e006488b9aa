#version 450
//! sequential-only
//! steps 2000000
// The consumer tells that a slot is free without a release: its read is not ordered before the next write.
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! finding data-race 26 18
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Ring { uint head; uint tail; uint slots[2]; };
layout(std430, set=0, binding=1) buffer Into { uint into[4]; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        for (uint k = 0; k < 4; k++) {
            while (k - atomicOr(tail, 0u) >= 2u) {}
            memoryBarrierBuffer();
            slots[k & 1u] = k * k;
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
            atomicAdd(head, 1u);
        }
    } else {
        for (uint k = 0; k < 4; k++) {
            while (atomicOr(head, 0u) <= k) {}
            memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
            into[k] = slots[k & 1u];
            atomicAdd(tail, 1u);
        }
    }
}
