#version 450
//! groups 2 1 1
//! buffer 0 uint 0 1
//! finding data-race 12 12
//! detail data-race reach across-workgroups
//! unordered
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Counter { uint64_t n; };
void main() {
    n += 0x100000000ul;
}
