#version 450
//! subgroup-size 8
//! buffer 0 uint 0*8
//! buffer 1 uint 0*8
//! expect 1 uint 1 2 3 4 5 6 7 0
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    subgroupBarrier();
    into[i] = d[(i + 1) & 7u];
}
