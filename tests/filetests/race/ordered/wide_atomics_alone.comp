#version 450
//! buffer 0 uint 0 0
//! alias 1 0
//! expect 0 uint 2 0
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Wide { uint64_t wide; };
layout(std430, set=0, binding=1) buffer Narrow { uint narrow[2]; };
void main() {
    if (gl_LocalInvocationIndex == 0) atomicAdd(wide, 1ul);
    else atomicAdd(wide, 1ul);
}
