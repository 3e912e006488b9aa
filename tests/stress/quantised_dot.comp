#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
// Dot products of blocks of 8-bit weights with 16-bit scales, as quantised networks do.
// groups: 1 1 1
// buffer: 0 int8 256 random 51 -128 127
// buffer: 1 int16 8 random 52 -9 9
// buffer: 2 int 16 zero
layout(local_size_x = 8) in;
layout(constant_id = 0) const bool SATURATE = true;
layout(std430, binding = 0) readonly buffer Weights { int8_t q[]; };
layout(std430, binding = 1) readonly buffer Scales { int16_t scale[]; };
layout(std430, binding = 2) writeonly buffer Sums { int sums[]; };
void main() {
    uint row = gl_GlobalInvocationID.x;
    int16_t factor = scale[row];
    int sum = 0;
    for (uint i = 0u; i < 32u; ++i) {
        int8_t w = q[row * 32u + i];
        if (w == int8_t(-128)) continue;
        sum += int(w) * (w < int8_t(0) && factor < 0s ? 2 : 1);
    }
    sum *= int(factor);
    sums[row] = SATURATE && (sum > 9000 || sum < -9000) ? (sum > 0 ? 9000 : -9000) : sum;
}
