#version 450
//! image 1 storage_image 2d r8ui 4x1 1 1 hex 0x01020304
//! expect 1 hex 0x01020300
layout(local_size_x=4) in;
layout(set=0, binding=1, r8ui) uniform uimage2D img;
void main() {
    if (gl_LocalInvocationIndex == 3) imageStore(img, ivec2(0), uvec4(0));
}
