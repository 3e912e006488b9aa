#version 450
//! buffer 0 float 0.1 0.2 0.4 9
//! neighbour buffer 0 float 0.1 0.2 0.41 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
void main() {
    a[3] = inverse(mat2(a[0], a[1], a[1], a[2]))[1][0];
}
