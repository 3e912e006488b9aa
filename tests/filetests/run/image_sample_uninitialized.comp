#version 450
//! image 1 storage_image 2d r32ui 2x1*2 1 1 uint 1 ? ? 4
//! buffer 0 uint 9*3
//! expect 0 uint 1 8 _
//! finding uninitialized-read 12
//! sequential-only
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(set=0, binding=1, r32ui) uniform uimage2DMS img;
void main() { imageStore(img, ivec2(1, 0), 0, uvec4(8u));
    r[0] = imageLoad(img, ivec2(0), 0).x; r[1] = imageLoad(img, ivec2(1, 0), 0).x;
    r[2] = imageLoad(img, ivec2(0), 1).x;
}
