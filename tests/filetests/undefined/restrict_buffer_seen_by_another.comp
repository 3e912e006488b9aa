#version 450
//! buffer 0 uint 1 2 3 4
//! alias 1 0 0
//! neighbour alias 1 0 8
//! finding undefined-value 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) restrict buffer Into { uint into[]; };
void main() {
    into[0] = from[0] + from[1];
}
