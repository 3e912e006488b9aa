#version 450
// A pipeline whose stages are made by macros, with decisions in macro bodies and arguments.
// groups: 1 1 1
// buffer: 0 int 64 random 301 -50 50
// buffer: 1 int 64 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { int source[]; };
layout(std430, binding = 1) writeonly buffer Out { int target[]; };
#define STAGE(name, test, yes, no) int name(int x, int n) { if (test) return yes; return no; }
#define BETWEEN(x, a, b) ((x) >= (a) && (x) <= (b))
#define EITHER(c, x, y) ((c) ? (x) : (y))
#define REPEAT(n, body) for (int k_ = 0; k_ < (n); ++k_) { body }
STAGE(clip, x > 40 || x < -40, x > 0 ? 40 : -40, x)
STAGE(fold, BETWEEN(x, -5, 5) && n != 0, x * n, x - n)
STAGE(wrap, !BETWEEN(x, -30, 30), EITHER(x > 0, x - 60, x + 60), x)
void main() {
    int me = int(gl_GlobalInvocationID.x), x = source[me], y = source[me + 32];
    REPEAT(3, x = wrap(fold(clip(x, k_), k_), EITHER(BETWEEN(y, 0, 20), 1, 2)); if (x == 0) break;)
    target[me] = EITHER(x > y && y > 0, x, y);
    target[me + 32] = EITHER(EITHER(x > 0, y > 0, y < 0), 1, EITHER(x == y, 0, -1));
}
