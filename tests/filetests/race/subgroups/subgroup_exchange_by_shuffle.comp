#version 450
//! subgroup-size 4
//! buffer 0 uint 0*8
//! expect 0 uint 1 0 3 2 5 4 7 6
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = subgroupShuffleXor(i, 1u);
}
