#version 450
//! image 1 storage_image 2d r8ui 4x1 1 1 hex 0
//! expect 1 hex 0x012c0080
//! finding undefined-value 8
layout(local_size_x=4) in;
layout(set=0, binding=1, r8ui) uniform writeonly uimage2D img;
void main() { uint values[4] = uint[](128u, 256u, 300u, 1u);
    imageStore(img, ivec2(gl_LocalInvocationIndex, 0), uvec4(values[gl_LocalInvocationIndex]));
}
