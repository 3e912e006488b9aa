#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*4
//! buffer 1 uint 0*2
//! finding data-race 14 17
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Meeting { uint arrived; uint data[2]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    data[i] = 2 - i;
    atomicAdd(arrived, 1u, gl_ScopeDevice, 0, 0);
    while (atomicLoad(arrived, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) < 2u) {}
    into[i] = data[1 - i];
}
