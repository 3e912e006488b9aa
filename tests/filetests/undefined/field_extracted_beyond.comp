#version 450
//! buffer 0 int -1 24 9 9
//! neighbour buffer 0 int -1 24 8 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { int a[]; };
void main() {
    a[3] = bitfieldExtract(a[0], a[1], a[2]);
}
