#version 450
//! buffer 0 hex 0 0
//! finding data-race 12 14
//! unordered
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
struct Entry { uint8_t low; uint8_t flag; uint8_t more; uint8_t most; };
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Entries { Entry e[2]; };
void main() {
    if (gl_LocalInvocationIndex == 0)
        e[0] = Entry(uint8_t(17), uint8_t(0), uint8_t(0), uint8_t(0));
    else
        e[0].flag = uint8_t(1);
}
