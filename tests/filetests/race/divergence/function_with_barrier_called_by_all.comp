#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 0 6 0 4 0 2 0 0
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
uint other(uint at, uint value) {
    s[at] = value;
    barrier();
    return s[7 - at];
}
void main() {
    uint i = gl_LocalInvocationIndex;
    uint seen = other(i, 7 - i);
    if (i % 2 == 1) into[i] = 7 - seen;
}
