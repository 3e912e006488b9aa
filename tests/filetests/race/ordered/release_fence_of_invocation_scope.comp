#version 450
//! sequential-only
//! steps 2000000
//! subgroup-size 2
//! buffer 0 uint 0 0
//! buffer 1 uint 0
//! finding data-race 16 22
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Message { uint data; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        data = 6;
        memoryBarrier(gl_ScopeInvocation, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
    }
    if (i == 3) {
        while (atomicLoad(flag, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 0u) {}
        into = data;
    }
}
