#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// 64-bit factorials modulo a prime, and a Miller-Rabin like filter.
// groups: 1 1 1
// buffer: 0 uint 32 random 281 3 2000
// buffer: 1 uint 32 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Numbers { uint number[]; };
layout(std430, binding = 1) writeonly buffer Kinds { uint kind[]; };
uint64_t power(uint64_t base, uint exponent, uint64_t modulus) {
    uint64_t result = 1ul;
    for (; exponent > 0u; exponent >>= 1) {
        if ((exponent & 1u) == 1u) result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}
bool witness(uint a, uint n) {
    uint d = n - 1u, s = 0u;
    while ((d & 1u) == 0u) { d >>= 1; ++s; }
    uint64_t x = power(uint64_t(a), d, uint64_t(n));
    if (x == 1ul || x == uint64_t(n) - 1ul) return false;
    for (uint r = 1u; r < s; ++r) {
        x = x * x % uint64_t(n);
        if (x == uint64_t(n) - 1ul) return false;
    }
    return true;
}
void main() {
    uint me = gl_GlobalInvocationID.x, n = number[me];
    bool even = (n & 1u) == 0u;
    kind[me] = even && n != 2u || n < 2u ? 0u : n < 4u ? 1u : witness(2u, n) || n % 3u == 0u ? 0u : 1u;
}
