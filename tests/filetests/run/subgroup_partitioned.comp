#version 450
#extension GL_NV_shader_subgroup_partitioned : require
//! vulkan 1.2
//! subgroup-size 8
//! buffer 0 uint 48*99
//! expect 0 uint 73 146 36 73 146 36 73 146  9 12 7 9 12 7 9 12  0 1 2 3 5 7 9 12  0 0 0 0 1 2 3 5  5 10 5 10 80 160 80 160  1 1 1 0 0 0 0 0
// Sets of invocations by `id % 3`: 0 3 6, 1 4 7, 2 5.
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint id = gl_SubgroupInvocationID;
    uvec4 sets = subgroupPartitionNV(id % 3);
    a[id] = sets.x;
    a[8 + id] = subgroupPartitionedAddNV(id, sets);
    a[16 + id] = subgroupPartitionedInclusiveAddNV(id, sets);
    a[24 + id] = subgroupPartitionedExclusiveAddNV(id, sets);
    a[32 + id] = subgroupPartitionNV(uvec2(id % 2, id / 4)).x;
    a[40 + id] = uint(subgroupPartitionedExclusiveMinNV(double(id), sets) > 1e300);
}
