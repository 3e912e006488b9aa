#version 450
//! buffer 0 uint 1 9 9
//! expect 0 uint 1 5 9
//! finding uninitialized-read 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    bool unwritten;
    if (mix(unwritten, true, r[0] == 1u)) r[1] = 5u;
    if (mix(true, unwritten, r[0] == 1u)) r[2] = 6u;
}
