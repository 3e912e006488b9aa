#version 450
//! buffer 0 uint 3 1 7 0 4 1 6 3
//! expect 0 uint 0 3 4 11 11 15 16 22
//! spare 13
//! spare 19
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[2 * i] = d[2 * i];
    s[2 * i + 1] = d[2 * i + 1];
    barrier();
    for (uint k = 1; k < 8; k *= 2) {
        if ((i + 1) * 2 * k <= 8) s[(i + 1) * 2 * k - 1] += s[(i + 1) * 2 * k - 1 - k];
        barrier();
    }
    if (i == 0) s[7] = 0;
    barrier();
    for (uint k = 4; k > 0; k /= 2) {
        if ((i + 1) * 2 * k <= 8) {
            uint right = (i + 1) * 2 * k - 1, left = right - k, keep = s[left];
            s[left] = s[right];
            s[right] += keep;
        }
        barrier();
    }
    d[2 * i] = s[2 * i];
    d[2 * i + 1] = s[2 * i + 1];
}
