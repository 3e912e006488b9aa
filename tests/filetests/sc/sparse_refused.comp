//! refused capability SparseResidency (Vulkan SC 1.0 has no sparse resources) at word _
//! refused instruction OpImageSparseFetch (Vulkan SC 1.0 has no sparse resources) in `main` at sparse_refused.comp:10
//! refused instruction OpImageSparseTexelsResident (Vulkan SC 1.0 has no sparse resources) in `main` at sparse_refused.comp:11
#version 450
#extension GL_ARB_sparse_texture2 : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) buffer Values { vec4 texel; uint there; };
void main() {
    int code = sparseTexelFetchARB(image, ivec2(0), 0, texel);
    there = sparseTexelsResidentARB(code) ? 1u : 0u;
}
