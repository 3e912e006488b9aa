#version 450
//! spec-memory-model
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! finding data-race 19 15
//! detail data-race missing availability
//! unordered
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) nonprivate buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    into[i] = d[(i + 1) & 3u];
}
