#version 450
//! buffer 0 hex 0
//! expect 0 hex 0x04030201
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint8_t d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = uint8_t(i + 1);
}
