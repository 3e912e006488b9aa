//! features VK_SUBGROUP_FEATURE_VOTE_BIT
#version 450
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    if (subgroupAll(values[1] == 0u)) values[0] = 1u;
}
