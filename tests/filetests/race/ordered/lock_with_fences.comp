#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! expect 0 uint 0 4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Locked { uint lock; uint count; };
void main() {
    bool done = false;
    while (!done) {
        if (atomicCompSwap(lock, 0u, 1u) == 0u) {
            memoryBarrierBuffer();
            count = count + 1;
            memoryBarrierBuffer();
            atomicExchange(lock, 0u);
            done = true;
        }
    }
}
