#version 450
// Run-length coding of short rows, with an escape for long runs.
// groups: 1 1 1
// buffer: 0 uint 256 random 101 0 2
// buffer: 1 uint 512 zero
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer In { uint symbol[]; };
layout(std430, binding = 1) writeonly buffer Out { uint code[]; };
void main() {
    uint me = gl_GlobalInvocationID.x, start = me * 32u, out_ = me * 64u, at = 0u;
    while (at < 32u) {
        uint length = 1u;
        while (at + length < 32u && symbol[start + at + length] == symbol[start + at] && length < 7u) ++length;
        if (length > 2u || symbol[start + at] == 2u) {
            code[out_++] = 256u + length;
            code[out_++] = symbol[start + at];
        } else {
            for (uint i = 0u; i < length; ++i) code[out_++] = symbol[start + at];
        }
        at += length;
    }
}
