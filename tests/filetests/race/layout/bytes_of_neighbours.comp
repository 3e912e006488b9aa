#version 450
//! buffer 0 hex 0 0
//! expect 0 hex 0x01010000 0x03030202
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint8_t d[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint k = 0; k < 2; k++) d[2 * i + k] = uint8_t(i);
}
