#version 450
//! image 1 storage_image 2d r32ui 4x2 1 1 uint 0*8
//! finding data-race 10 11
//! detail data-race memory image
//! unordered
layout(local_size_x=4) in;
layout(set=0, binding=1, r32ui) uniform uimage2D img;
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(img, ivec2(i, 0), uvec4(7 + i));
    uint next = imageLoad(img, ivec2((i + 1) % 4, 0)).x;
    imageStore(img, ivec2(i, 1), uvec4(next));
}
