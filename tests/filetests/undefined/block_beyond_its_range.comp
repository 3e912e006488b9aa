#version 450
//! buffer 0 uint 4 7 0 9
//! neighbour buffer 0 uint 4 7 0 9 5
//! alias 1 0
//! finding out-of-bounds 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
layout(std430, set=0, binding=1) readonly buffer Whole { uint whole[8]; };
void main() {
    a[2] = whole[4];
}
