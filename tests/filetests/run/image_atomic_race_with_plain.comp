#version 450
//! image 1 storage_image 2d r32ui 1x1 1 1 uint ?
//! finding data-race 9 8
//! finding uninitialized-read 8
//! unordered
layout(local_size_x=2) in;
layout(set=0, binding=1, r32ui) uniform uimage2D img;
void main() { if (gl_LocalInvocationIndex == 0u) imageAtomicAdd(img, ivec2(0, 0), 1u); else
    imageStore(img, ivec2(0), uvec4(1)); }
