//! buffer 0 uint 0*4
//! finding uninitialized-read 9
#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() {
    uvec2 half_written;
    half_written.x = 5u;
    uvec2 sum = half_written + 1u;
    uvec2 product = sum * 2u;
    r[0] = sum.x;
    r[1] = product.y;
}
