#version 450
//! buffer 0 uint 1 24 9 9
//! neighbour buffer 0 uint 1 24 8 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
void main() {
    a[3] = bitfieldInsert(a[0], 7u, int(a[1]), int(a[2]));
}
