#version 450
//! buffer 0 hex 0xdb135345 0xf20a225c
layout(local_size_x = 2) in;
layout(binding = 0) buffer S { uint s[]; };
uint doubled(uint a) { return ((a << 1) ^ ((a >> 7 & 1u) * 0x1bu)) & 0xffu; }
void main() {
    uint i = gl_LocalInvocationID.x;
    uvec4 c = uvec4(s[i] >> 24, s[i] >> 16, s[i] >> 8, s[i]) & 0xffu;
    uvec4 d = uvec4(doubled(c.x), doubled(c.y), doubled(c.z), doubled(c.w));
    uvec4 m = d ^ (d.yzwx ^ c.yzwx) ^ c.zwxy ^ c.wxyz;
    s[i] = m.x << 24 | m.y << 16 | m.z << 8 | m.w;
}
