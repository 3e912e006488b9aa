#version 450
//! buffer 0 uint 1*12
//! expect 0 uint 1 2 3 4 5 6 7 8 9 10 11 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
shared uint carry;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) carry = 0;
    for (uint chunk = 0; chunk < 3; chunk++) {
        s[i] = d[chunk * 4 + i];
        barrier();
        uint sum = 0;
        for (uint k = 0; k <= i; k++) sum += s[k];
        d[chunk * 4 + i] = carry + sum;
        barrier();
        if (i == 3) carry += sum;
    }
}
