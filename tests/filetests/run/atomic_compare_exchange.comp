#version 450
//! buffer 0 int 0 0 0
//! expect 0 int 5 -3 4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { int r[]; };
void main() {
    atomicCompSwap(r[0], 0, 5);
    atomicMin(r[1], -int(gl_LocalInvocationIndex));
    atomicXor(r[2], 1 << gl_LocalInvocationIndex);
    if (gl_LocalInvocationIndex == 3) {
        atomicAnd(r[2], 4);
        atomicXor(r[2], 0);
    }
    atomicAnd(r[2], 4 | 8);
    atomicAnd(r[2], 4);
    atomicOr(r[2], 4);
}
