#version 450
//! buffer 0 uint 0*8
//! completion error
//! finding barrier-divergence 10 16
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
uint other(uint at, uint value) {
    s[at] = value;
    barrier();
    return s[at];
}
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i % 2 == 1) into[i] = other(i, i);
}
