#version 450
//! spec-memory-model
//! image 1 storage_image 1d r32ui 8 1 1 uint 0*8
//! expect 1 uint 0 1 2 3 3 2 1 0
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(set=0, binding=1, r32ui) uniform coherent uimage1D img;
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(img, i, uvec4(i));
    memoryBarrierImage();
    barrier();
    memoryBarrierImage();
    uint other = imageLoad(img, 3 - i).x;
    imageStore(img, 4 + i, uvec4(other));
}
