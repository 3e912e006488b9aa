#version 450
//! buffer 0 int 0 1 2 1
//! expect 0 int 20 10 30 30
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
shared int s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    int value = 0;
    switch (d[i]) {
    case 0: value = 10; break;
    case 1: value = 20; break;
    default: value = 30; break;
    }
    s[i] = value;
    barrier();
    d[i] = s[i == 3 ? 2 : 1 - (i & 1u)];
    if (i == 2) d[i] = s[2];
}
