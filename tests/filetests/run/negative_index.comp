#version 450
//! buffer 0 uint 4
//! push int -1
//! expect 0 uint 0
//! finding out-of-bounds 11
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { int k; };
shared uint t[4];
void main() {
    r[0] = t[k]; 
}
