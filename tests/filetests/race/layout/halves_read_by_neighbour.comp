#version 450
//! buffer 0 hex 0x00020001 0x00040003
//! finding data-race 11 11
//! unordered
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint16_t d[4]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = uint16_t(d[i] + d[(i + 1) % 4]);
}
