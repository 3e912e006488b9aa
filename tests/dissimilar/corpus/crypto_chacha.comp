#version 450
//! buffer 0 hex 0x61707865 0x3320646e 0x79622d32 0x6b206574 1 2 3 4 5 6 7 8 9 10 11 12
layout(local_size_x = 1) in;
layout(binding = 0) buffer State { uint state[16]; };
uint rotated(uint x, int n) { return (x << n) | (x >> (32 - n)); }
void quarter(inout uint a, inout uint b, inout uint c, inout uint d) {
    a += b; d = rotated(d ^ a, 16);
    c += d; b = rotated(b ^ c, 12);
    a += b; d = rotated(d ^ a, 8);
    c += d; b = rotated(b ^ c, 7);
}
void main() {
    uint x[16] = state;
    for (int round = 0; round < 4; ++round) {
        quarter(x[0], x[4], x[8], x[12]);
        quarter(x[1], x[5], x[9], x[13]);
        quarter(x[2], x[6], x[10], x[14]);
        quarter(x[3], x[7], x[11], x[15]);
    }
    for (int i = 0; i < x.length(); ++i) state[i] += x[i];
}
