#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 7 6 5 4 3 2 1 0
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared uint s[8];
void share(uint i, uint v) {
    s[i] = v;
    barrier();
}
void main() {
    uint i = gl_LocalInvocationIndex;
    share(i, i);
    uint v = s[7 - i];
    barrier();
    share(i, v);
    r[i] = s[i];
}
