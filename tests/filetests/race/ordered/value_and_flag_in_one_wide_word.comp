#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! buffer 1 uint 0
//! expect 1 uint 44
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Message { uint64_t both; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        atomicExchange(both, 0x10000002cul);
    } else {
        // What an atomic brings along needs no order.
        uint64_t seen = 0ul;
        while ((seen >> 32) == 0ul) seen = atomicOr(both, 0ul);
        into = uint(seen);
    }
}
