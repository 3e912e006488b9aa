#version 450
//! buffer 0 hex 0xa9c34148 0x82e2acac
//! buffer 1 uint 0 0
layout(local_size_x = 2) in;
layout(binding = 0) buffer T { uint text[]; };
layout(binding = 1) buffer C { uint counts[]; };
uint byte_at(uint i) { return text[i >> 2] >> ((i & 3u) << 3) & 0xFFu; }
void main() {
    uint n = 0u;
    for (uint i = 0u; i < 4u; i++) {
        switch (byte_at(gl_LocalInvocationID.x * 4u + i) >> 6) {
        case 0u: case 1u: n += 1u; break;
        case 2u: break;
        default: n += 1u; break;
        }
    }
    counts[gl_LocalInvocationID.x] = n;
}
