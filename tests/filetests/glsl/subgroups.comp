#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_rotate : require
#extension GL_EXT_shader_quad_control : enable
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint v[]; };
void main() {
    uint x = v[gl_SubgroupInvocationID];
    uvec4 ballot = subgroupBallot(x > 3u);
    if (subgroupElect() && gl_SubgroupID == 0u) v[0] = subgroupBallotBitCount(ballot);
    if (subgroupInverseBallot(ballot) || subgroupBallotBitExtract(ballot, 2u)) v[1] = subgroupAdd(x);
    bool same = subgroupAllEqual(x), all_set = subgroupAll(x != 0u);
    bool shared_flag = subgroupShuffle(same, 1u), broad = subgroupBroadcastFirst(x > 7u);
    bool both = subgroupAnd(same), either = subgroupOr(all_set), odd = subgroupXor(broad);
    x = subgroupExclusiveAdd(x) + subgroupShuffleXor(x, 1u) + subgroupClusteredMax(x, 4u) + subgroupQuadSwapHorizontal(x);
    if (subgroupRotate(x, 1u) > 2u ? same : shared_flag) v[2] = subgroupInclusiveMul(x);
    v[3] = uint(both) + uint(either || odd) + (gl_SubgroupEqMask.x > 1u ? 1u : 0u);
    subgroupMemoryBarrierShared();
}
// decision: D1 argument "x > 3u" conditions=1
// decision: D2 if "subgroupElect() && gl_SubgroupID == 0u" conditions=2
// decision: D3 if "subgroupInverseBallot(ballot) || subgroupBallotBitExtract(ballot, 2u)" conditions=2
// decision: D4 initialiser "subgroupAllEqual(x)" conditions=1
// decision: D5 initialiser "subgroupAll(x != 0u)" conditions=1
// decision: D6 argument "x != 0u" conditions=1
// decision: D7 initialiser "subgroupShuffle(same, 1u)" conditions=1
// decision: D8 argument "same" conditions=1
// decision: D9 initialiser "subgroupBroadcastFirst(x > 7u)" conditions=1
// decision: D10 argument "x > 7u" conditions=1
// decision: D11 initialiser "subgroupAnd(same)" conditions=1
// decision: D12 argument "same" conditions=1
// decision: D13 initialiser "subgroupOr(all_set)" conditions=1
// decision: D14 argument "all_set" conditions=1
// decision: D15 initialiser "subgroupXor(broad)" conditions=1
// decision: D16 argument "broad" conditions=1
// decision: D17 if "subgroupRotate(x, 1u) > 2u ? same : shared_flag" conditions=1
// decision: D18 ternary "subgroupRotate(x, 1u) > 2u" conditions=1
// decision: D19 expression "same" conditions=1
// decision: D20 expression "shared_flag" conditions=1
// decision: D21 argument "both" conditions=1
// decision: D22 argument "either || odd" conditions=2
// decision: D23 ternary "gl_SubgroupEqMask.x > 1u" conditions=1
