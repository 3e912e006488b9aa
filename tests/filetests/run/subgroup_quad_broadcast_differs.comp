#version 450
#extension GL_KHR_shader_subgroup_quad : require
//! vulkan 1.2
//! subgroup-size 8
//! buffer 0 uint 8*99
//! expect 0 uint 2 2 2 2 5 5 5 5
//! finding undefined-value 14
// In the first quad the index differs: that of its lowest active invocation counts there.
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    uint id = gl_SubgroupInvocationID;
    uint index = id < 4 ? (id == 3 ? 0 : 2) : 1;
    a[id] = subgroupQuadBroadcast(id, index);
}
