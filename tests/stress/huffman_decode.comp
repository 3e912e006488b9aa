#version 450
// Decodes a small prefix code bit by bit, with resynchronisation.
// groups: 1 1 1
// buffer: 0 uint 16 random 261 0 2147483647
// buffer: 1 uint 16 zero
layout(local_size_x = 16) in;
const uint FIRST[5] = uint[](0u, 0u, 2u, 6u, 14u);
const uint COUNT[5] = uint[](0u, 1u, 1u, 1u, 2u);
layout(std430, binding = 0) readonly buffer Bits { uint word[]; };
layout(std430, binding = 1) writeonly buffer Symbols { uint symbols[]; };
void main() {
    uint me = gl_GlobalInvocationID.x, code = 0u, length = 0u, decoded = 0u, hash = 17u;
    for (uint i = 0u; i < 32u; ++i) {
        code = code << 1 | (word[me] >> (31u - i) & 1u);
        if (++length > 4u) { code = 0u; length = 0u; continue; }
        bool complete = COUNT[length] > 0u && code >= FIRST[length] && code < FIRST[length] + COUNT[length];
        if (!complete) continue;
        hash = hash * 31u + length * 4u + (code - FIRST[length]);
        decoded += length == 4u && code == 15u ? 2u : 1u;
        code = 0u; length = 0u;
    }
    symbols[me] = length != 0u && decoded > 3u ? hash ^ 1u : hash;
}
