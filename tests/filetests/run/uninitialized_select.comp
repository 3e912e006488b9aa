#version 450
//! buffer 0 uint 0*4
//! push uint 1
//! expect 0 uint 0 7 0 7
//! finding uninitialized-read 11
//! finding uninitialized-read 13
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint k; };
uint either(bool first, uint a, uint b) { return uintBitsToFloat(0u) == 0.0 ? floatBitsToUint(mix(uintBitsToFloat(b), uintBitsToFloat(a), first)) : 0u; }
void main() { uint none; if (either(k == 1u, none, 7u) == 0u) r[0] = 0u;
    r[1] = either(k == 1u, 7u, none);
    if (either(k != 1u, 7u, none) == 0u) r[2] = 0u;
    r[3] = either(k != 1u, none, 7u);
}
