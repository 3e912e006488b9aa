#version 450
//! buffer 0 uint 0*4 8 8 8 8
//! uniform 1 uint 1 0 0 0 2 0 0 0 3 0 0 0 4 0 0 0
//! push uint 2 uint 7 uint 7 uint 7 uint 7
//! expect 0 uint 0 0 0 0 8 8 8 8
//! finding out-of-bounds 16
//! finding out-of-bounds 17
//! finding out-of-bounds 18
//! finding out-of-bounds 19
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[4]; uint inner[2][2]; };
layout(std140, set=0, binding=1) uniform U { uint u[2][2]; };
layout(push_constant) uniform P { uint k; uint p[2][2]; };
void main() {
    uint own[2][2] = uint[][](uint[](1, 2), uint[](3, 4));
    r[0] = own[0][k];
    r[1] = u[0][k];
    r[2] = p[0][k];
    inner[0][k] = 9;
}
