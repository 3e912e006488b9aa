#version 450
//! subgroup-size 4
//! buffer 0 uint 0
//! expect 0 uint 2
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Count { uint count; };
void main() {
    if (subgroupElect()) atomicAdd(count, 1u);
}
