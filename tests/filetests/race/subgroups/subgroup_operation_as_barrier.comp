#version 450
// A subgroup operation brings values together and orders no memory.
//! subgroup-size 4
//! buffer 0 uint 0*4
//! finding data-race 14 16
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    uint sum = subgroupAdd(i);
    into[i] = sum + s[(i + 1) & 3u];
}
