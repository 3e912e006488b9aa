#version 450
//! buffer 0 uint 1 2 3 4
//! expect 0 uint 10 9 7 4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    uint sum = 0;
    for (uint k = 0; k < 4; k++) {
        barrier();
        if (k >= i) sum += s[k];
    }
    d[i] = sum;
}
