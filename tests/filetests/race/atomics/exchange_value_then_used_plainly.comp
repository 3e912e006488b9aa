#version 450
//! buffer 0 int 0
//! buffer 1 int 0*4
//! finding data-race 11 12
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d; };
layout(std430, set=0, binding=1) buffer Into { int into[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    int old = atomicExchange(d, i + 1);
    into[i] = d - old;
}
