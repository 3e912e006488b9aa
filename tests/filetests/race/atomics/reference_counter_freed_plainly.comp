#version 450
//! groups 2 1 1
//! buffer 0 uint 4 1
//! finding data-race 10 11
//! finding data-race 11 11
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Object { uint users; uint live; };
void main() {
    atomicAdd(users, 0xffffffffu);
    if (users < 4) live = 0;
}
