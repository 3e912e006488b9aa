#version 450
//! vulkan 1.2
//! sequential-only
//! groups 2 1 1
//! buffer 0 uint 0
//! buffer 1 uint 0
//! buffer 2 uint 7
//! expect 2 uint 42
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) workgroupcoherent buffer Payload { uint payload; };
layout(std430, set=0, binding=1) buffer Guard { uint guard; };
layout(std430, set=0, binding=2) buffer Into { uint into; };
const int BUFFERS = gl_StorageSemanticsBuffer;
const int RELEASE = gl_SemanticsRelease | gl_SemanticsMakeAvailable;
const int ACQUIRE = gl_SemanticsAcquire | gl_SemanticsMakeVisible;
void main() {
    uint l = gl_LocalInvocationIndex;
    if (gl_WorkGroupID.x == 0) {
        if (l == 1) payload = 42;
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, BUFFERS, gl_SemanticsAcquireRelease);
        if (l == 0) atomicStore(guard, 1u, gl_ScopeDevice, BUFFERS, RELEASE);
    } else {
        if (l == 0 && atomicLoad(guard, gl_ScopeDevice, BUFFERS, ACQUIRE) == 1u) into = payload;
    }
}
