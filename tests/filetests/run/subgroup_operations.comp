#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
//! vulkan 1.2
//! subgroup-size 4
//! buffer 0 uint 7*128
//! groups 1 1 1
//! expect 0 uint 0 6000 3 113 5 4 1 55 3 3 1 201 120 7 7 7 1 6011 23 0 0 13 3 1 301 120 7 7 7 7 7 7 2 6032 3 113 105 117 3 1 33 3 1 5 120 7 7 7 3 6063 3 113 105 586 2 2 73 3 1 105 120 7 7 7 100 22040 47 113 5 4 5 55 3 11 1 209 164 7 7 7 101 22091 23 4 4 13 11 1 309 164 7 7 7 7 7 7 102 22152 47 113 105 117 7 5 33 11 1 13 164 7 7 7 103 22223 47 113 105 586 6 6 73 11 1 113 164 7 7 7
// Operations of subgroups of four: in straight code, under a branch that some take, in a loop that they leave one by one, in a
// function, in a condition, of vectors, floats and Booleans.
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
uint own = gl_LocalInvocationIndex;
uint next = 0u;
void put(uint value) {
    r[own * 16u + next] = value;
    ++next;
}
uint together(uint value) {
    uint sum = subgroupAdd(value);
    return subgroupElect() ? sum : sum + 100u;
}
void main() {
    uint lane = gl_SubgroupInvocationID;
    put(gl_SubgroupID * 100u + lane);
    put(subgroupAdd(own) * 1000u + subgroupInclusiveAdd(own) * 10u + subgroupExclusiveAdd(1u));
    if (lane != 1u) {
        put(subgroupMax(own) + subgroupMin(own) * 10u);
        put(subgroupBallot(true).x + (subgroupAll(lane < 9u) ? 100u : 0u));
        put(together(lane));
    }
    uint rounds = 0u;
    for (uint i = 0u; i <= lane; ++i) {
        rounds = rounds * 5u + subgroupAdd(1u);
    }
    put(rounds);
    if (subgroupAny(lane == 3u)) {
        put(subgroupShuffleXor(own, 1u));
    }
    uint above = subgroupShuffleUp(own, 1u);
    put(lane == 0u ? 55u : above);
    put(subgroupBallotBitCount(subgroupBallot(lane > 0u)) + gl_SubgroupLtMask.x * 10u);
    vec2 most = subgroupMax(vec2(float(own), -float(own)));
    put(uint(most.x - most.y));
    put(subgroupAllEqual(own / 4u) && gl_NumSubgroups.x == 2u ? 1u : 0u);
    put(subgroupClusteredAdd(own, 2u) + 100u * subgroupQuadSwapVertical(lane));
    subgroupBarrier();
    put(subgroupBroadcastFirst(own) + subgroupBroadcast(own, 2u) * 10u + (subgroupOr(lane == 2u) ? 100u : 0u));
}
