#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
//! buffer 0 uint 1 0 1 ?
//! finding uninitialized-read 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint64_t r[]; };
void main() {
    atomicAdd(r[0], 1ul);
    atomicAdd(r[1], 1ul);
}
