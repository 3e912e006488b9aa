#version 450
// Morton codes with range checks, and a comparison of neighbours by the highest differing bit.
// groups: 1 1 1
// buffer: 0 uint 128 random 331 0 1100
// buffer: 1 uint 64 zero
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Points { uvec2 point[]; };
layout(std430, binding = 1) writeonly buffer Codes { uint code[]; };
uint spread(uint x) {
    if (x > 1023u) return 0xffffffffu;
    x = (x | x << 8) & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}
bool before(uvec2 a, uvec2 b) {
    uvec2 d = a ^ b;
    return (d.x < d.y && d.x < (d.x ^ d.y)) ? a.y < b.y : a.x < b.x;
}
void main() {
    uint me = gl_GlobalInvocationID.x;
    uvec2 p = point[me], q = point[me == 63u ? 0u : me + 1u];
    uint x = spread(p.x), y = spread(p.y);
    bool bad = x == 0xffffffffu || y == 0xffffffffu;
    code[me] = bad ? 0u : x | y << 1 | (before(p, q) && !bad ? 0x80000000u : 0u);
}
