#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! expect 0 uint 1 3 6 10 15 21 28 36
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[2][8];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint from = 0;
    s[0][i] = d[i];
    barrier();
    for (uint k = 1; k < 8; k <<= 1) {
        s[1 - from][i] = s[from][i] + (i >= k ? s[from][i - k] : 0);
        from = 1 - from;
        barrier();
    }
    d[i] = s[from][i];
}
