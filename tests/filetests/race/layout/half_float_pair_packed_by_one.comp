#version 450
//! buffer 0 hex 0 0
//! expect 0 hex 0x40003c00 0x44004200
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i % 2 == 0) d[i / 2] = packHalf2x16(vec2(i + 1, i + 2));
}
