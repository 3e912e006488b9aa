#version 450
#extension GL_KHR_memory_scope_semantics : require
//! buffer 0 uint 0*8
//! finding data-race 14 10
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = i;
    memoryBarrier(gl_ScopeInvocation, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    barrier();
    memoryBarrier(gl_ScopeInvocation, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
    r[4 + i] = r[(i + 1) % 4];
}
