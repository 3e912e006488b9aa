#version 450
//! sequential-only
//! steps 2000000
//! groups 2 1 1
//! buffer 0 uint 0
//! buffer 1 uint 0
//! buffer 2 uint 0
//! finding data-race 19 23
//! detail data-race reach across-workgroups
//! unordered
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) coherent buffer Flag { uint flag; };
layout(std430, set=0, binding=1) workgroupcoherent buffer Message { uint data; };
layout(std430, set=0, binding=2) buffer Into { uint into; };
void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 15;
        atomicStore(flag, 1u, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    } else {
        while (atomicLoad(flag, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 0u) {}
        into = data;
    }
}
