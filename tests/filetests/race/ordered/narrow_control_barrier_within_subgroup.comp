#version 450
//! subgroup-size 4
//! buffer 0 uint 0*8
//! buffer 1 uint 0*8
//! expect 1 uint 3 2 1 0 7 6 5 4
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeSubgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    into[i] = d[i ^ 3u];
}
