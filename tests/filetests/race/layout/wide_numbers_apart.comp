#version 450
//! buffer 0 hex 0 0 0 0
//! expect 0 hex 1 1 2 1
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { uint64_t d[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = 0x100000000ul + uint64_t(i + 1);
}
