#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*3
//! buffer 1 uint 0*2
//! expect 1 uint 4 5
//! spare 14
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Message { uint one; uint two; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into[2]; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        one = 4;
        memoryBarrierBuffer();
        atomicExchange(flag, 1u);
        two = 5;
        memoryBarrierBuffer();
        atomicExchange(flag, 2u);
    } else {
        while (atomicOr(flag, 0u) < 2u) {}
        memoryBarrierBuffer();
        into[0] = one;
        into[1] = two;
    }
}
