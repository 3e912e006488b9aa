#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! buffer 1 uint 0*3
//! finding data-race 14 14
//! unordered
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Turns { uint turn; uint sum; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    while (atomicOr(turn, 0u) != i) {}
    sum += i + 1; into[i] = sum;
    atomicAdd(turn, 1u);
}
