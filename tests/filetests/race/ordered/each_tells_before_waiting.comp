#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! buffer 1 uint 0 0
//! expect 1 uint 8 7
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Flags { uint flags[2]; };
layout(std430, set=0, binding=1) buffer Into { uint into[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = 8 - i;
    atomicExchange(flags[i], 1u);
    while (atomicOr(flags[1 - i], 0u) == 0u) {}
}
