#version 450
//! texels 1 storage_texel r16ui hex 0x00020001 0x00040003
//! texels 2 uniform_texel r32f float 5 6
//! buffer 0 uint 9*5
//! expect 0 uint 6 8 3 4 0
//! expect 1 hex 0x000c000b 0x000e000d
//! finding out-of-bounds 17
//! finding out-of-bounds 15
//! finding out-of-bounds 16
layout(local_size_x=5) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(set=0, binding=1, r16ui) uniform uimageBuffer into;
layout(set=0, binding=2) uniform samplerBuffer from;
void main() { int i = int(gl_LocalInvocationIndex);
    uint seen = imageLoad(into, i).x;
    uint other = uint(texelFetch(from, i).x);
    imageStore(into, i, uvec4(seen + 10u));
    r[i] = seen + other;
}
