#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
//! vulkan 1.2
//! buffer 0 hex 0x3c004000 0x42003800 0xc5002e66 0x7bff0001
//! buffer 1 hex 0*4
//! buffer 2 float 0*4
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer X { f16vec2 x[]; };
layout(binding = 1) buffer Y { float16_t y[4][2]; };
layout(binding = 2) buffer Z { float z[]; };
const float16_t BIAS = float16_t(0.1);
float16_t activation(float16_t v) { return max(v, 0.0hf) + BIAS; }
void main() {
    uint i = gl_LocalInvocationID.x;
    f16vec2 v = x[i] * float16_t(0.5) + f16vec2(BIAS, 1);
    y[i][0] = activation(v.x);
    y[i][1] = fma(v.y, v.x, clamp(x[i].x, -1.0hf, 1.0hf));
    f16mat2 m = f16mat2(1.0hf);
    z[i] = float(dot(m * v, v)) + float(float16_t(int(i))) + unpackFloat2x16(packFloat2x16(v)).x * 2.0;
}
