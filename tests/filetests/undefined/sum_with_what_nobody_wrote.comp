#version 450
//! buffer 0 uint 0 7 0 9
//! neighbour buffer 0 uint 1 7 0 9
//! finding uninitialized-read 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
shared uint s;
void main() {
    if (a[0] == 1u) s = 4u;
    atomicAdd(s, 5u);
}
