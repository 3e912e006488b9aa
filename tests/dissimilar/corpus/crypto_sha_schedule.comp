#version 450
//! buffer 0 hex 0x61626380 0*14 0x18 0*8
layout(local_size_x = 1) in;
layout(binding = 0) buffer W { uint w[24]; };
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32u - (n))))
#define SIGMA0(x) (ROTR(x, 7u) ^ ROTR(x, 18u) ^ ((x) >> 3u))
#define SIGMA1(x) (ROTR(x, 17u) ^ ROTR(x, 19u) ^ ((x) >> 10u))
void main() {
    for (uint t = 16u; t < 24u; ++t) w[t] = SIGMA1(w[t - 2u]) + w[t - 7u] + SIGMA0(w[t - 15u]) + w[t - 16u];
}
