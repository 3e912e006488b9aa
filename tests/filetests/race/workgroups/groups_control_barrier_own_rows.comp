#version 450
//! groups 2 1 1
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! expect 1 uint 2 1 4 3
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) coherent buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    d[g] = g + 1;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    into[g] = d[g ^ 1u];
}
