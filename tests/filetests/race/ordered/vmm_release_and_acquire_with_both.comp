#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0
//! buffer 1 uint 0
//! buffer 2 uint 0
//! expect 2 uint 33
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) coherent buffer Flag { uint flag; };
layout(std430, set=0, binding=1) nonprivate buffer Message { uint data; };
layout(std430, set=0, binding=2) buffer Into { uint into; };
const int MAKE_AVAILABLE = gl_SemanticsRelease | gl_SemanticsMakeAvailable;
const int MAKE_VISIBLE = gl_SemanticsAcquire | gl_SemanticsMakeVisible;
void main() {
    if (gl_LocalInvocationIndex == 0) {
        data = 33;
        memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, MAKE_AVAILABLE);
        atomicStore(flag, 1u, gl_ScopeWorkgroup, 0, 0);
    } else {
        while (atomicLoad(flag, gl_ScopeWorkgroup, 0, 0) == 0u) {}
        memoryBarrier(gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, MAKE_VISIBLE);
        into = data;
    }
}
