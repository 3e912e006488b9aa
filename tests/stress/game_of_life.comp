#version 450
// Game of life on bits, with an early exit for dead rows.
// groups: 1 1 1
// buffer: 0 uint 32 random 91 0 65535
// buffer: 1 uint 32 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Old { uint rows[]; };
layout(std430, binding = 1) writeonly buffer New { uint next[]; };
uint row(int y) { return y < 0 || y > 31 ? 0u : rows[y]; }
bool alive(int x, int y) { return x >= 0 && x < 16 && (row(y) >> x & 1u) == 1u; }
void main() {
    int y = int(gl_GlobalInvocationID.x);
    if (row(y - 1) == 0u && row(y) == 0u && row(y + 1) == 0u) { next[y] = 0u; return; }
    uint result = 0u;
    for (int x = 0; x < 16; ++x) {
        int count = 0;
        for (int d = 0; d < 9; ++d) {
            if (d == 4) continue;
            if (alive(x + d % 3 - 1, y + d / 3 - 1)) ++count;
        }
        bool lives = count == 3 || (count == 2 && alive(x, y));
        result |= lives ? 1u << x : 0u;
    }
    next[y] = result;
}
