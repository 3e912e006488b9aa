#version 450
//! buffer 0 uint 0*5
//! expect 0 uint 3 3 4 5 99
layout(local_size_x=5) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
uint find(uint from) {
    for (uint k = from; k < 6; k++) {
        if (k * k >= 8 + from && k >= 3)
            return k == 3 && from > 1 ? 4 : (k < 4 ? 3 : (from == 2 ? 4 : 5));
        if (from == 4)
            return 99;
    }
    return 7;
}
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v = find(i);
    r[i] = i == 4 ? 99 : (v > 5 ? 5 : v);
}
