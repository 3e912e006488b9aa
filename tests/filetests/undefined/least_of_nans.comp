#version 450
//! buffer 0 float NaN NaN NaN NaN
//! neighbour buffer 0 float NaN 2 NaN 1
//! buffer 1 float 0 0 0 0
//! subgroup-size 4
//! finding undefined-value 14
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
layout(std430, set=0, binding=1) buffer O { float o[]; };
#define k gl_SubgroupInvocationID
void main() {
    o[k] = subgroupMin(a[k]);
}
