#version 450
//! spec-memory-model
//! subgroup-size 2
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! expect 1 uint 1 0 3 2
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    subgroupMemoryBarrierBuffer();
    barrier();
    subgroupMemoryBarrierBuffer();
    into[i] = d[i ^ 1u];
}
