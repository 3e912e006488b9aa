#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 1) in;
struct Block { float16_t scale; int8_t q[32]; };
layout(std430, binding = 0) buffer Blocks { Block blocks[]; };
layout(std430, binding = 1) buffer Wide { u8vec4 bytes[]; };
layout(std430, binding = 2) buffer Out { int v[]; };
i16vec2 widen(const i8vec2 x) { return i16vec2(x); }
float16_t relu(float16_t x) { return x > float16_t(0.0) ? x : float16_t(0); }
void main() {
    int8_t a = blocks[0].q[3];
    uint8_t b = bytes[1].z;
    i8vec4 c = unpack8(v[2]);
    f16vec4 h = f16vec4(blocks[1].scale);
    f16mat2 m = f16mat2(1.0);
    i64vec2 wide = i64vec2(a, b);
    if (a < int8_t(0) || b == uint8_t(255) && wide.x > wide.y) v[0] = int(a);
    if (any(greaterThan(c, i8vec4(3)))) v[1] = int(c.x);
    bool small = all(lessThan(h, f16vec4(2.0hf)));
    v[3] = int(relu(h.x)) + int(small) + int(widen(i8vec2(c.xy)).y) + int(m[0][0]) + int(pack32(u16vec2(1us, 2us)));
}
// decision: D1 ternary "x > float16_t(0.0)" conditions=1
// decision: D2 if "a < int8_t(0) || b == uint8_t(255) && wide.x > wide.y" conditions=3
// decision: D3 if "any(greaterThan(c, i8vec4(3)))" conditions=1
// decision: D4 initialiser "all(lessThan(h, f16vec4(2.0hf)))" conditions=1
// decision: D5 argument "small" conditions=1
