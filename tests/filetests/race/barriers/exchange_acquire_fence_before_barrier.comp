#version 450
//! buffer 0 uint 5 6 7 8 0*4
//! finding data-race 10 13
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = d[i] + uint(5);
    memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
    barrier();
    d[4 + i] = d[(i + 1) % 4];
}
