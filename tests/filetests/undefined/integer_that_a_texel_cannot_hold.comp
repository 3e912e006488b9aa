#version 450
//! buffer 0 int 256 0 0 9
//! neighbour buffer 0 int 255 0 0 9
//! texels 1 storage_texel r8ui uint 0
//! finding undefined-value 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { int a[]; };
layout(set=0, binding=1, r8ui) uniform uimageBuffer img;
void main() {
    imageStore(img, 0, ivec4(a[0]));
}
