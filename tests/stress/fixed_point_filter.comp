#version 450
// Biquad filter in fixed point with saturation and limit-cycle suppression.
// groups: 1 1 1
// buffer: 0 int 256 random 221 -30000 30000
// buffer: 1 int 256 zero
layout(local_size_x = 4) in;
layout(std430, binding = 0) readonly buffer In { int source[]; };
layout(std430, binding = 1) writeonly buffer Out { int target[]; };
int saturated(int x, inout int clips) {
    if (x > 32767) { clips++; return 32767; }
    else if (x < -32768) { clips++; return -32768; }
    return x;
}
void main() {
    uint start = gl_GlobalInvocationID.x * 64u;
    int x1 = 0, x2 = 0, y1 = 0, y2 = 0, clips = 0;
    for (uint i = 0u; i < 64u; ++i) {
        int x = source[start + i];
        int y = saturated((x * 3 + x1 * 6 + x2 * 3 + y1 * 5 - y2 * 2) / 8, clips);
        if (abs(y) < 4 && abs(y1) < 4 && x == 0) y = 0;
        x2 = x1; x1 = x; y2 = y1; y1 = y;
        target[start + i] = clips > 9 && (i & 1u) == 0u ? 0 : y;
    }
}
