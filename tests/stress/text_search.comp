#version 450
// Counts words in bytes packed into words; letters may be upper or lower case.
// groups: 1 1 1
// buffer: 0 uint 64 random 131 538976288 2054847098
// buffer: 1 uint 16 zero
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer Text { uint packed_[]; };
layout(std430, binding = 1) writeonly buffer Counts { uint words[]; };
uint byte_at(uint i) { return packed_[i >> 2] >> ((i & 3u) * 8u) & 255u; }
bool letter(uint c) { return c >= 65u && c <= 90u || c >= 97u && c <= 122u; }
bool digit(uint c) { return c >= 48u && c <= 57u; }
void main() {
    uint start = gl_GlobalInvocationID.x * 16u, count = 0u;
    bool inside = false;
    for (uint i = start; i < start + 16u; ++i) {
        uint c = byte_at(i);
        bool word = letter(c) || inside && digit(c);
        if (word && !inside) ++count;
        inside = word;
    }
    words[gl_GlobalInvocationID.x] = count;
}
