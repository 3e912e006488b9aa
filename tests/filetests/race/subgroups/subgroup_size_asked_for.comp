#version 450
//! subgroup-size 2
//! buffer 0 uint 0*8
//! expect 0 uint 1 0 3 2 5 4 7 6
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    subgroupBarrier();
    uint first = i / gl_SubgroupSize * gl_SubgroupSize;
    into[i] = s[first + (gl_SubgroupInvocationID + 1) % gl_SubgroupSize];
}
