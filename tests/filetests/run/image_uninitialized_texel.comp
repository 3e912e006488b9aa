#version 450
//! image 1 storage_image 2d rgba8ui 4x1 1 1 hex 0x04030201 ? ? 0x08070605
//! buffer 0 uint 9*4
//! expect 0 uint 1 7 _ 5
//! finding uninitialized-read 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(set=0, binding=1, rgba8ui) uniform uimage2D img;
void main() { ivec2 at = ivec2(gl_LocalInvocationIndex, 0);
    if (at.x == 1) imageStore(img, at, uvec4(7u));
    uvec4 seen = imageLoad(img, at);
    r[at.x] = seen.x;
}
