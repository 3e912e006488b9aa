#version 450
//! buffer 0 uint 1 3 2 9
//! neighbour buffer 0 uint 1 2 2 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
void main() {
    a[3] = clamp(a[0], a[1], a[2]);
}
