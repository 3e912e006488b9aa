#version 450
//! push uint 1 uint ?
//! buffer 0 uint 0*2
//! finding uninitialized-read 11
//! expect 0 uint 1
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint a; uint b; };
void main() {
    r[0] = a;
    r[1] = b; 
}
