#version 450
//! buffer 0 uint 0 0*8
//! expect 0 uint 8 7*8
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Queue { uint end; uint items[]; };
void main() {
    uint at = atomicAdd(end, 1u);
    items[at] = 7;
}
