#version 450
//! buffer 0 uint 9*4
//! push uint 1 uint 2
//! finding uninitialized-read 13
//! expect 0 uint 3 _ 9 9
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint i; uint j; };
void main() {
    uint own[4] = uint[](1, 2, 3, 4), none;
    own[i] = none;
    r[0] = own[j];
    r[1] = own[i];
}
