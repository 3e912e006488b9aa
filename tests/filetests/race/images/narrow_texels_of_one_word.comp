#version 450
//! image 1 storage_image 2d r16ui 4x1 1 1 hex 0 0
//! expect 1 hex 0x00020001 0x00040003
layout(local_size_x=4) in;
layout(set=0, binding=1, r16ui) uniform uimage2D img;
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(img, ivec2(i, 0), uvec4(i + 1));
}
