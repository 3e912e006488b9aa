#version 460
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { bfloat16_t x[]; };
layout(std430, binding = 1) buffer Out { int v[]; };
void main() {
    bf16vec4 four = bf16vec4(x[0], x[1], x[2], x[3]);
    float f = float(x[4]);
    if (f > 0.5 && float(four.y) < 2.0) x[5] = bfloat16_t(f);
    v[0] = f == 1.0 ? 1 : 0;
}
// decision: D1 if "f > 0.5 && float(four.y) < 2.0" conditions=2
// decision: D2 ternary "f == 1.0" conditions=1
