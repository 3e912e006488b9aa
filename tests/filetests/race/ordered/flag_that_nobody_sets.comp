#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0
//! completion no-termination
//! finding no-termination 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Flag { uint flag; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 4) atomicExchange(flag, 2u);
    if (i == 1) while (atomicAdd(flag, 0u) != 2u) {} }
