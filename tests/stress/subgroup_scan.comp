#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
// Stream compaction with ballots.
// groups: 1 1 1
// buffer: 0 uint 64 random 61 0 9
// buffer: 1 uint 65 zero
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { uint source[]; };
layout(std430, binding = 1) buffer Out { uint count; uint kept[]; };
void main() {
    uint x = source[gl_GlobalInvocationID.x];
    bool keep = x > 3u && x != 7u;
    uvec4 ballot = subgroupBallot(keep);
    uint rank = subgroupBallotExclusiveBitCount(ballot), total = subgroupBallotBitCount(ballot), base = 0u;
    if (subgroupElect() && total > 0u) base = atomicAdd(count, total);
    base = subgroupBroadcastFirst(base);
    if (keep) kept[base + rank] = x;
    bool all_small = subgroupAll(x < 10u), some_large = subgroupAny(x >= 10u);
    if (!all_small || some_large) kept[0] = 99u;
}
