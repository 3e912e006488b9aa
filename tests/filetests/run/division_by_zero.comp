#version 450
//! buffer 0 uint 8 0 3 0
//! push uint 0
//! expect 0 uint 0
//! finding undefined-value 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint z; };
void main() {
    r[0] = 8 / z; 
}
