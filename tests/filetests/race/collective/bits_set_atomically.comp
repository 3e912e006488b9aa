#version 450
//! buffer 0 uint 0 0
//! expect 0 hex 0x11 0x22
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Bits { uint bits[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if ((i & 2u) != 0) return;
    atomicOr(bits[i & 1u], 1u << i);
}
