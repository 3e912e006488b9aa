#version 450
//! buffer 0 uint 7 0 0 9
//! neighbour buffer 0 uint 7 2 0 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
void main() {
    a[3] = a[0] % a[1];
}
