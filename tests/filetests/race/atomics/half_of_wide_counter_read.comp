#version 450
//! buffer 0 uint 0 0
//! buffer 1 uint 0*2
//! finding data-race 13 14
//! unordered
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Counter { uint64_t n; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(n, 1ul);
    into[i] = uint(n);
}
