#version 450
//! subgroup-size 4
//! buffer 0 uint 0 0
//! expect 0 uint 4 4
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[2]; };
shared uint counts[2];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 2) counts[i] = 0;
    barrier();
    atomicAdd(counts[gl_SubgroupID], 1u, gl_ScopeSubgroup, 0, 0);
    barrier();
    if (i < 2) into[i] = counts[i];
}
