#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    if (subgroupElect()) values[0] = 1u;
}
