#version 450
//! buffer 0 hex 0 0
//! texel-alias 1 0 storage_texel r16ui
//! expect 0 hex 0x00000007 0x00090000
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(set=0, binding=1, r16ui) uniform uimageBuffer texels;
void main() {
    if (gl_LocalInvocationIndex == 0)
        d[0] = 7;
    else
        imageStore(texels, 3, uvec4(9));
}
