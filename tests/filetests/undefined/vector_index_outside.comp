#version 450
//! buffer 0 uint 4 7 0 9
//! neighbour buffer 0 uint 3 7 0 9
//! finding out-of-bounds 9
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
void main() {
    uvec4 v = uvec4(a[1]);
    a[2] = v[a[0]];
}
