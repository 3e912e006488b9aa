#version 450
//! image 1 storage_image 2d r32ui 2x1*4 1 1 uint 0 1 2 3 4 5 6 7
//! buffer 0 uint 9*5
//! expect 0 uint 0 1 3 0 0
//! expect 1 uint 0 1 2 3 4 5 6 7
//! finding out-of-bounds 15
//! finding out-of-bounds 16
//! finding out-of-bounds 17
//! sequential-only
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(set=0, binding=1, r32ui) uniform uimage2DMS img;
void main() { int i = int(gl_LocalInvocationIndex);
    // Texel 0 has samples 0 to 3; sample 4 is not the first of texel 1.
    r[i] = imageLoad(img, ivec2(0), i < 2 ? i : i == 2 ? 3 : 4).x;
    if (i == 0) imageStore(img, ivec2(0), -1, uvec4(77u));
    if (i == 1) r[4] = imageAtomicAdd(img, ivec2(0), 4, 1u);
}
