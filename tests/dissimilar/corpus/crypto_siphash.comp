#version 450
#extension GL_ARB_gpu_shader_int64 : require
//! buffer 0 hex 0x03020100 0x07060504 0x0b0a0908 0x0f0e0d0c
//! buffer 1 hex 0 0
layout(local_size_x = 1) in;
layout(binding = 0) buffer K { uvec2 key[2]; };
layout(binding = 1) buffer H { uvec2 hash; };
uint64_t rotated(uint64_t x, int n) { return (x << n) | (x >> (64 - n)); }
void main() {
    uint64_t k0 = packUint2x32(key[0]), k1 = packUint2x32(key[1]);
    uint64_t v0 = k0 ^ 0x736f6d6570736575ul, v1 = k1 ^ 0x646f72616e646f6dul;
    for (int i = 0; i < 4; i++) { v0 += v1; v1 = rotated(v1, 13) ^ v0; v0 = rotated(v0, 32); }
    int64_t signed_sum = int64_t(v0) - int64_t(5l);
    hash = unpackUint2x32(v0 ^ v1 ^ uint64_t(signed_sum));
}
