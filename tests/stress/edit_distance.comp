#version 450
// Levenshtein distance of short words, one pair per invocation.
// groups: 1 1 1
// buffer: 0 uint 128 random 161 0 3
// buffer: 1 uint 8 zero
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer Words { uint letter[]; };
layout(std430, binding = 1) writeonly buffer Distances { uint distance_[]; };
uint least(uint a, uint b, uint c) { uint m = a < b ? a : b; return m < c ? m : c; }
void main() {
    uint me = gl_GlobalInvocationID.x, start = me * 16u;
    uint row[9];
    for (uint j = 0u; j < 9u; ++j) row[j] = j;
    for (uint i = 1u; i <= 8u; ++i) {
        uint diagonal = row[0];
        row[0] = i;
        for (uint j = 1u; j <= 8u; ++j) {
            uint above = row[j];
            bool same = letter[start + i - 1u] == letter[start + 7u + j];
            row[j] = least(above + 1u, row[j - 1u] + 1u, diagonal + (same ? 0u : 1u));
            if (i > 1u && same && above > row[j]) row[j] = row[j] == 0u ? 0u : row[j];
            diagonal = above;
        }
    }
    distance_[me] = row[8];
}
