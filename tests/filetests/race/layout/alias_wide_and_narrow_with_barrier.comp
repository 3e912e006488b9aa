#version 450
//! buffer 0 hex 0 0 0 0
//! alias 1 0
//! expect 0 hex 0 7 1 7
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Wide { uint64_t wide[]; };
layout(std430, set=0, binding=1) buffer Narrow { uint narrow[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    wide[i] = uint64_t(i);
    memoryBarrierBuffer();
    barrier();
    narrow[2 * (1 - i) + 1] = 7;
}
