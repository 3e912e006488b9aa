#version 450
//! image 1 storage_image 2d r32ui 2x1*4 1 1 uint 0*8
//! finding data-race 12 11
//! detail data-race memory image
//! unordered
//! sequential-only
layout(local_size_x=4) in;
layout(set=0, binding=1, r32ui) uniform uimage2DMS img;
void main() { int i = int(gl_LocalInvocationIndex);
    // The samples of one texel do not race with one another.
    imageStore(img, ivec2(0), i, uvec4(i));
    uint seen = imageLoad(img, ivec2(0), i ^ 1).x;
    imageStore(img, ivec2(1, 0), i, uvec4(seen < 9u ? 1u : 0u));
}
