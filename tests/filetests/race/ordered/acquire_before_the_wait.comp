#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 int 0 0
//! buffer 1 int 0
//! finding data-race 18 16
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Message { int data; int flag; };
layout(std430, set=0, binding=1) buffer Into { int into; };
void main() {
    // The one that waits is the first.
    if (gl_LocalInvocationIndex == 0) {
        memoryBarrierBuffer();
        do {} while (atomicAdd(flag, 0) != 1);
        into = data;
    } else {
        data = -3;
        memoryBarrierBuffer();
        atomicExchange(flag, 1);
    }
}
