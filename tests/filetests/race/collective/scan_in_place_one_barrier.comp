#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! finding data-race 13 13
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    barrier();
    for (uint k = 1; k < 8; k <<= 1) {
        if (i >= k) s[i] += s[i - k];
        barrier();
    }
    d[i] = s[i];
}
