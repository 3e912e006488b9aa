#version 450
//! spec-memory-model
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! expect 1 uint 1 2 3 0
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) nonprivate buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    barrier();
    memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
    into[i] = d[(i + 1) & 3u];
}
