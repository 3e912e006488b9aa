#version 450
// Evaluates a logic network: every operator of the language on Booleans.
// groups: 1 1 1
// buffer: 0 uint 64 iota
// buffer: 1 uint 64 zero
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { uint word[]; };
layout(std430, binding = 1) writeonly buffer Out { uint result[]; };
bool majority(bool a, bool b, bool c) { return a && b || c && (a || b); }
void adder(bool a, bool b, inout bool carry, out bool sum) { sum = a ^^ b ^^ carry; carry = majority(a, b, carry); }
void main() {
    uint w = word[gl_GlobalInvocationID.x];
    bool b[6];
    for (int i = 0; i < 6; ++i) b[i] = (w >> i & 1u) == 1u;
    bool carry = b[0] && !b[5], s0, s1, s2;
    adder(b[0], b[3], carry, s0);
    adder(b[1], b[4], carry, s1);
    adder(b[2], b[5], carry, s2);
    bool parity = s0 ^^ s1 ^^ s2 ^^ carry, latch = (s0 || !s1) && (parity == s2);
    if (!(latch && carry) && (parity != s0 || majority(s0, s1, s2))) latch = !latch;
    result[gl_GlobalInvocationID.x] = uint(s0) | uint(s1) << 1 | uint(s2) << 2 | uint(carry) << 3 | (latch ? 16u : 0u) | uint(parity) << 5;
}
