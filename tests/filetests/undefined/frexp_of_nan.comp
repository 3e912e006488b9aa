#version 450
//! buffer 0 float NaN 0 0 9
//! neighbour buffer 0 float 0 0 0 9
//! finding undefined-value 9
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
void main() {
    int e;
    a[1] = frexp(a[0], e);
    a[2] = float(e);
}
