#version 450
//! buffer 0 uint 1 0 0 0
//! neighbour buffer 0 uint 0 0 0 0
//! buffer 1 uint 0 0 0 0
//! subgroup-size 4
//! finding undefined-value 15
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
layout(std430, set=0, binding=1) buffer O { uint o[]; };
#define k gl_SubgroupInvocationID
void main() {
    o[k] = subgroupShuffleDown(k, a[0]);
}
