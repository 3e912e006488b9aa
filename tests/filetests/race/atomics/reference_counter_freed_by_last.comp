#version 450
//! groups 2 1 1
//! buffer 0 uint 4 1
//! expect 0 uint 0 0
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Object { uint users; uint live; };
void main() {
    if (atomicAdd(users, 0xffffffffu) == 1) live = 0;
}
