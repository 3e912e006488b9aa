#version 450
//! buffer 0 hex 0x34333231 0x38373635
//! buffer 1 hex 0
layout(local_size_x = 1) in;
layout(binding = 0) buffer D { uint data[]; };
layout(binding = 1) buffer R { uint crc; };
void main() {
    uint c = ~0u;
    for (uint i = 0u; i < uint(data.length()) * 4u; i++) {
        c ^= data[i / 4u] >> (i % 4u * 8u) & 0xFFu;
        for (int k = 0; k < 8; ++k) c = (c & 1u) != 0u ? (c >> 1) ^ 0xEDB88320u : c >> 1;
    }
    crc = ~c;
}
