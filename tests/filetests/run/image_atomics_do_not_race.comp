#version 450
//! groups 4 1 1
//! image 1 storage_image 2d r32ui 2x1 1 1 uint 0 3
//! texels 2 storage_texel r32i int 0 0
//! expect 1 uint 32 3
//! expect 2 int 0 -7
layout(local_size_x=8) in;
layout(set=0, binding=1, r32ui) uniform uimage2D img;
layout(set=0, binding=2, r32i) uniform iimageBuffer t;
void main() { imageAtomicAdd(img, ivec2(0, 0), 1u); imageAtomicMin(t, 1, -int(gl_LocalInvocationIndex)); }
