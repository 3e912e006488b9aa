#version 450
// Parses type-length-value records with bounds, a checksum and unknown types.
// groups: 1 1 1
// buffer: 0 uint 256 random 251 0 11
// buffer: 1 uint 32 zero
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer Bytes { uint byte_[]; };
layout(std430, binding = 1) writeonly buffer Parsed { uvec4 parsed[]; };
void main() {
    uint me = gl_GlobalInvocationID.x, at = me * 32u, end = at + 32u, known = 0u, unknown = 0u, bad = 0u, sum = 0u;
    while (at + 2u <= end) {
        uint type = byte_[at], length = byte_[at + 1u];
        if (length == 0u || at + 2u + length > end) { bad++; break; }
        for (uint i = 0u; i < length; ++i) sum += byte_[at + 2u + i];
        switch (type) {
            case 0u: at = end; continue;
            case 1u: case 2u: case 3u: known++; break;
            case 4u: if (length != 4u) { bad++; break; }
            case 5u: known += 2u; break;
            default: if (type > 9u && (sum & 1u) == 1u) bad++; else unknown++;
        }
        at += 2u + length;
    }
    parsed[me] = uvec4(known, unknown, bad, bad > 0u || sum == 0u ? 0u : sum);
}
