//! refused capability GroupNonUniformVote (feature VK_SUBGROUP_FEATURE_VOTE_BIT, not in sc_features) at word _
#version 450
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    if (subgroupAll(values[1] == 0u)) values[0] = 1u;
}
