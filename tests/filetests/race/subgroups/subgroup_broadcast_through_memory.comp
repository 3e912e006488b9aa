#version 450
//! subgroup-size 4
//! buffer 0 uint 5 6 7 8
//! finding data-race 14 15
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint first;
void main() {
    uint i = gl_LocalInvocationIndex;
    uint mine = d[i];
    if (subgroupElect()) first = mine;
    d[i] = mine + first;
}
