#version 450
//! buffer 0 uint 0*6
//! expect 0 uint 111 110 100 1000 5 1000
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint v = 0;
    switch (i) {
        case 0: v += 1;
        case 1: v += 10;
        case 2: v += 100; break;
        case 4: v = 5; break;
        default: v = 1000;
    }
    r[i] = v;
}
