#version 450
//! groups 2 1 1
//! buffer 0 uint 0 0
//! alias 1 0
//! buffer 2 uint 0 0
//! finding data-race 16 17
//! detail data-race reach across-workgroups
//! unordered
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Wide { uint64_t wide; };
layout(std430, set=0, binding=1) buffer Narrow { uint narrow[2]; };
layout(std430, set=0, binding=2) buffer Into { uint into[2]; };
void main() {
    if (gl_WorkGroupID.x == 0) atomicExchange(wide, 0x500000000ul);
    else into[0] = atomicOr(narrow[0], 0u);
}
