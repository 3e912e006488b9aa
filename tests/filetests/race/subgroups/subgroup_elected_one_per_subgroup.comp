#version 450
//! subgroup-size 4
//! buffer 0 uint 0
//! finding data-race 11 11
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Count { uint count; };
void main() {
    // One is elected in each subgroup, and there are two.
    if (subgroupElect()) count += 1;
}
