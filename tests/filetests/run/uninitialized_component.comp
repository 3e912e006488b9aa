#version 450
//! buffer 0 float 9*4
//! push uint 0 uint 2
//! finding uninitialized-read 12
//! expect 0 float 1 _ 9 9
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(push_constant) uniform P { uint i; uint j; };
vec4 half_written() { vec4 v; v.xy = vec2(1.0, 2.0); return v; }
void main() {
    r[0] = half_written()[i];
    r[1] = half_written()[j];
}
