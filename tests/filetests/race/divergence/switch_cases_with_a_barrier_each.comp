#version 450
//! buffer 0 int 0 1 2 1
//! completion error
//! finding barrier-divergence 13 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
shared int s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    int value = 0;
    switch (d[i]) {
    case 0: value = 10; barrier(); break;
    default: value = 20; barrier(); break;
    }
    d[i] = value;
}
