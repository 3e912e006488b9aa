#version 450
//! spec-memory-model
//! buffer 0 int 0*4
//! buffer 1 int 0*4
//! expect 1 int 3 2 1 0
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
layout(std430, set=0, binding=1) buffer Into { int into[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    d[i] = i;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    memoryBarrierBuffer();
    into[i] = d[3 - i];
}
