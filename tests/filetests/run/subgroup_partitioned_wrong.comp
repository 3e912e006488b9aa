#version 450
#extension GL_NV_shader_subgroup_partitioned : require
//! vulkan 1.2
//! subgroup-size 4
//! buffer 0 uint 4*99
//! expect 0 uint 1 1 1 1
//! finding undefined-value 13
// Invocations 1 to 3 are in no set of their own.
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint id = gl_SubgroupInvocationID;
    a[id] = subgroupPartitionedAddNV(1u, uvec4(1, 0, 0, 0));
}
