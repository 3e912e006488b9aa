#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! finding data-race 13 13
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Locked { uint lock; uint count; };
void main() {
    bool done = false;
    while (!done) {
        if (atomicCompSwap(lock, 0u, 1u) == 0u) {
            count = count + 1;
            atomicExchange(lock, 0u);
            done = true;
        }
    }
}
