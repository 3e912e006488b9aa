#version 450
#extension GL_KHR_shader_subgroup_quad : require
//! vulkan 1.2
//! subgroup-size 16
//! buffer 0 uint 16*99
//! expect 0 uint 0 0 0 0 5 5 5 5 10 10 10 10 15 15 15 15
// The index is the same within a quad and differs between quads.
layout(local_size_x = 16) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint quad = gl_SubgroupInvocationID >> 2;
    a[gl_SubgroupInvocationID] = subgroupQuadBroadcast(gl_SubgroupInvocationID, quad);
}
