#version 450
//! groups 2 1 1
//! buffer 0 uint 0
//! buffer 1 uint 0*4
//! expect 0 uint 4
//! expect 1 uint 1 1 1 1
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Tickets { uint next; };
layout(std430, set=0, binding=1) buffer Seats { uint seats[]; };
void main() {
    uint mine = atomicAdd(next, 1u);
    seats[mine] = 1;
}
