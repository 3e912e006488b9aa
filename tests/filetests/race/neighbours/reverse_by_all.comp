#version 450
//! buffer 0 int 1 2 3 4 5 6
//! finding data-race 10 11
//! finding data-race 11 11
//! unordered
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    int here = d[i], there = d[5 - i];
    d[i] = there; d[5 - i] = here;
}
