#version 450
//! buffer 0 uint 1 2 3 4
//! range 0 8
//! expect 0 uint 9 9 3 4
//! finding out-of-bounds 9
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[gl_LocalInvocationIndex] = 9; 
}
