#version 450
//! groups 3 1 1
//! buffer 0 uint 0
//! expect 0 uint 6
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Counter { uint counter; };
void main() {
    atomicAdd(counter, 1u);
}
