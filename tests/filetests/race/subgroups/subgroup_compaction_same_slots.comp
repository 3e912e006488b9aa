#version 450
//! subgroup-size 4
//! buffer 0 uint 1 0 1 1 0 1 1 0
//! buffer 1 uint 0
//! buffer 2 uint 0*8
//! finding data-race 22 22
//! detail data-race same_value true
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Count { uint count; };
layout(std430, set=0, binding=2) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    bool kept = from[i] != 0;
    uvec4 vote = subgroupBallot(kept);
    uint at = 0;
    // Both subgroups count from 0.
    at += subgroupBallotExclusiveBitCount(vote);
    if (kept) into[at] = 9;
}
