#version 450
//! buffer 0 float 2 2 1 9
//! neighbour buffer 0 float 1 2 3 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
void main() {
    a[3] = smoothstep(a[0], a[1], a[2]);
}
