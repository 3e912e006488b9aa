#version 450
//! buffer 0 uint 9 3 7 1 8 2 6 4
//! finding data-race 15 15
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    barrier();
    for (uint k = 2; k <= 8; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            uint other = i ^ j;
            if (other > i) { uint a = s[i], b = s[other]; s[i] = min(a, b); s[other] = max(a, b); }
        }
        barrier();
    }
    d[i] = s[i];
}
