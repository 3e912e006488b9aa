#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
//! vulkan 1.2
//! buffer 0 float 1 -1 0.5 -0.5 2 3 -2 0
//! buffer 1 hex 0*4
layout(local_size_x = 4) in;
struct Block { uint16_t bits; int16_t sum; };
layout(binding = 0) buffer X { vec2 x[]; };
layout(binding = 1) buffer Y { Block blocks[]; };
uint16_t sign_bits(vec2 v) { return uint16_t(uint(v.x < 0) | uint(v.y < 0) << 1); }
void main() {
    uint i = gl_LocalInvocationID.x;
    blocks[i].bits = sign_bits(x[i]) << uint16_t(3us);
    blocks[i].sum = int16_t(floor(x[i].x + x[i].y)) - 1s;
}
