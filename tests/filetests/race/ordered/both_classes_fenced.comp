#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0*2
//! buffer 1 uint 0*2
//! expect 1 uint 5 6
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Message { uint data; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into[2]; };
shared uint half_of_it;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 1) half_of_it = 0;
    barrier();
    if (i == 0) {
        data = 5;
        half_of_it = 6;
        memoryBarrier();
        atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) == 0u) {}
        memoryBarrier();
        into[0] = data;
        into[1] = half_of_it;
    }
}
