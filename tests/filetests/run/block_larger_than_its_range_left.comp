#version 450
//! buffer 0 uint 1 2 3 4
//! range 0 8
//! expect 0 uint 0 2 3 4
//! finding out-of-bounds 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[64]; };
void main() { r[0] = r[2]; }
