#version 450
//! buffer 0 uint 4 0 0 9 1 2 3 4
//! neighbour buffer 0 uint 16 0 0 9 1 2 3 4
//! vulkan 1.2
//! buffer 1 uint 0 0
//! address 1 0 0
//! finding out-of-bounds 16
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Ref { uint x[]; };
layout(std430, set=0, binding=1) readonly buffer B { uint64_t start; };
void main() {
    Ref r = Ref(start + uint64_t(a[0]));
    a[2] = r.x[0];
}
