#version 450
//! buffer 0 hex 0 0
//! alias 1 0
//! finding data-race 13 15
//! unordered
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Words { uint words[]; };
layout(std430, set=0, binding=1) buffer Bytes { uint8_t bytes[]; };
void main() {
    if (gl_LocalInvocationIndex == 0)
        words[0] = 1;
    else
        bytes[3] = uint8_t(2);
}
