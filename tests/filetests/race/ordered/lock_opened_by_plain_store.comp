#version 450
//! sequential-only
//! steps 2000000
//! groups 2 1 1
//! buffer 0 uint 0
//! buffer 1 uint 0
//! finding data-race 15 19
//! finding data-race 19 19
//! finding data-race 17 17
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) coherent buffer Lock { uint lock; };
layout(std430, set=0, binding=1) coherent buffer Count { uint count; };
void main() {
    while (atomicCompSwap(lock, 0u, 1u) != 0u) {}
    memoryBarrierBuffer();
    count += 1;
    memoryBarrierBuffer();
    lock = 0;
}
