#version 450
//! subgroup-size 4
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! buffer 1 uint 0
//! finding data-race 19 20
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = from[i];
    barrier();
    if (gl_SubgroupID == 0) {
        s[i] += s[i + 4];
        subgroupBarrier();
        if (i < 2) s[i] += s[i + 2];
        if (i < 1) into = s[0] + s[1];
    }
}
