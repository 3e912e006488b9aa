#version 450
//! subgroup-size 4
//! buffer 0 uint 0*4
//! expect 0 uint 7 8 9 6
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    uint sum = subgroupAdd(i);
    subgroupBarrier();
    into[i] = sum + s[(i + 1) & 3u];
}
