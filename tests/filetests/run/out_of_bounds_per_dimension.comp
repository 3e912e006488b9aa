#version 450
//! buffer 0 uint 0*4
//! push uint 3
//! expect 0 uint 0 0 0 0
//! finding out-of-bounds 13
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint k; };
shared uint t[4][2];
void main() {
    for (uint a = 0; a < 8; a++)
        t[a / 2][a % 2] = 5;
    r[0] = t[1][k]; 
}
