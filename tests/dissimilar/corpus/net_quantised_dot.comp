#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_8bit_storage : require
//! vulkan 1.2
//! buffer 0 hex 0x04030201 0xfffefdfc
//! buffer 1 hex 0x01010101 0x02020202
//! buffer 2 int 0 0
layout(local_size_x = 2) in;
layout(binding = 0) buffer A { int8_t a[]; };
layout(binding = 1) buffer B { u8vec4 b[]; };
layout(binding = 2) buffer C { int c[]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    int sum = 0;
    for (uint k = 0u; k < 4u; ++k) sum += int(a[i * 4u + k]) * int(b[i][k]);
    c[i] = sum + int(int8_t(200));
}
