#version 450
//! image 1 storage_image 2d r32ui 2x2*4 1 1 uint 0 1 2 3 10 11 12 13 20 21 22 23 30 31 32 33
//! image 2 storage_image 2d rgba8ui 1x1*2 2 1 hex 0 0x04030201 0 0x08070605
//! image 3 combined 2d r32f 1x2*2 1 1 float 0.5 1.5 2.5 3.5
//! buffer 0 uint 99*12
//! expect 0 uint 33 20 2 2 4 2 2 5 7 35 11 1
//! expect 1 uint 0 1 2 3 10 99 12 13 20 21 22 23 40 31 32 33
//! expect 2 hex 0x01010101 0x04030201 0 0x08070605
//! sequential-only
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(set=0, binding=1, r32ui) uniform uimage2DMS img;
layout(set=0, binding=2, rgba8ui) uniform uimage2DMSArray layers;
layout(set=0, binding=3) uniform sampler2DMS tex;
void main() {
    r[0] = imageLoad(img, ivec2(1, 1), 3).x;
    r[1] = imageLoad(img, ivec2(0, 1), 0).x;
    r[2] = uint(imageSize(img).x);
    r[3] = uint(imageSize(layers).z);
    r[4] = uint(imageSamples(img));
    r[5] = uint(textureSamples(tex));
    r[6] = uint(textureSize(tex).y);
    r[7] = imageLoad(layers, ivec3(0, 0, 1), 1).x;
    r[8] = uint(2.0 * texelFetch(tex, ivec2(0, 1), 1).x);
    r[9] = imageAtomicAdd(img, ivec2(1, 1), 0, 5u) + 5u;
    imageAtomicMax(img, ivec2(1, 1), 0, 40u);
    r[10] = imageAtomicExchange(img, ivec2(1, 0), 1, 99u);
    imageStore(layers, ivec3(0), 0, uvec4(1u));
    r[11] = imageAtomicCompSwap(img, ivec2(0), 1, 7u, 8u);
}
