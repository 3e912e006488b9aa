#version 450
//! buffer 0 uint 0
//! push uint 0
//! steps 10000
//! completion no-termination
//! finding no-termination 12
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint z; };
void main() {
    uint k = 1;
    while (k != z) k |= 1; 
    r[0] = 1;
}
