#version 450
//! buffer 0 uint 3 1 7 0 4 1 6 3
//! finding data-race 15 19
//! finding data-race 15 20
//! unordered
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
        if (k < 4) barrier();
    }
    // Nothing between the last step up and the first step down.
    if (i == 1) s[7] = 0;
    if (i == 2) s[3] = 0;
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
