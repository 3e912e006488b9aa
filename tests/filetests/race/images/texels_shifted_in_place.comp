#version 450
//! texels 1 storage_texel r32ui uint 4 3 2 1
//! finding data-race 10 10
//! detail data-race memory image
//! unordered
layout(local_size_x=4) in;
layout(set=0, binding=1, r32ui) uniform uimageBuffer t;
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(t, i, imageLoad(t, (i + 1) & 3));
}
