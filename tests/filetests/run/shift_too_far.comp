#version 450
//! buffer 0 uint 0
//! push uint 33
//! finding undefined-value 10
//! expect 0 uint 2
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint z; };
void main() {
    r[0] = 1u << z; 
}
