#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 0 1 4 8 13 18 23 28
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint sum = 0;
    for (uint a = 0; a <= i; a++) {
        for (uint b = 0; ; b++) {
            if (b == a) break;
            if (b == 5) break;
            if ((b & 1u) == 7u) continue;
            sum++;
        }
        if (a == 0) continue;
        if (a < 3) { sum += a - 1; sum += (a == 1) ? 0 : 0; }
        if (a == 100) return;
        if (a == 3) sum += 1;
        if (a == 4) sum += 1;
    }
    r[i] = sum;
}
