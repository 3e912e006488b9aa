#version 450
//! sequential-only
//! steps 2000000
//! subgroup-size 2
//! buffer 0 uint 0 0
//! buffer 1 uint 0*4
//! expect 1 uint 0 4 0 0
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Message { uint data; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        data = 4;
        subgroupMemoryBarrierBuffer();
        atomicExchange(flag, 1u);
    }
    if (i == 1) {
        while (atomicOr(flag, 0u) == 0u) {}
        subgroupMemoryBarrierBuffer();
        into[i] = data;
    }
}
