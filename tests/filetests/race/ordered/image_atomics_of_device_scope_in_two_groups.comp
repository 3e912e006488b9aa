#version 450
//! groups 2 1 1
//! image 1 storage_image 1d r32ui 2 1 1 uint 0 0
//! expect 1 uint 0 4
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(set=0, binding=1, r32ui) uniform uimage1D counts;
void main() {
    imageAtomicAdd(counts, 1, 1u, gl_ScopeDevice, 0, 0);
}
