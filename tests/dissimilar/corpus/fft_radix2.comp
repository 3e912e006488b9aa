#version 450
//! buffer 0 float 1 0 2 0 3 0 4 0 5 0 6 0 7 0 8 0
layout(local_size_x = 4) in;
layout(binding = 0) buffer Z { vec2 z[]; };
shared vec2 s[8];
const float PI = 3.14159265358979;
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
void main() {
    uint t = gl_LocalInvocationID.x;
    for (uint k = t; k < 8; k += 4) s[bitfieldReverse(k) >> 29] = z[k];
    for (uint half_size = 1; half_size < 8; half_size <<= 1) {
        barrier();
        uint k = t & (half_size - 1), base = ((t - k) << 1) + k;
        float angle = -PI * float(k) / float(half_size);
        vec2 even = s[base], odd = times(s[base + half_size], vec2(cos(angle), sin(angle)));
        s[base] = even + odd;
        s[base + half_size] = even - odd;
    }
    barrier();
    for (uint k = t; k < 8; k += 4) z[k] = s[k];
}
