#version 450
//! buffer 0 float NaN 9
//! neighbour buffer 0 float -inf 9
//! finding undefined-value 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
void main() {
    a[1] = sign(a[0]);
}
