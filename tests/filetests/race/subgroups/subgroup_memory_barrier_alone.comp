#version 450
//! subgroup-size 8
//! buffer 0 float 0*8
//! finding data-race 12 14
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { float into[]; };
shared float s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = float(i);
    subgroupMemoryBarrierShared();
    into[i] = s[i ^ 4u];
}
