#version 450
//! subgroup-size 4
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! buffer 1 uint 0*8
//! expect 1 uint 36*8
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint part[2];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint sum = subgroupAdd(from[i]);
    if (subgroupElect()) part[gl_SubgroupID] = sum;
    barrier();
    into[i] = part[0] + part[1];
}
