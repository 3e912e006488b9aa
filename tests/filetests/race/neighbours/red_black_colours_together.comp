#version 450
//! buffer 0 int 0 2 4 6 8 10 12 0
//! finding data-race 9 9
//! unordered
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
shared int s[8];
void relax(uint i) {
    s[i] = (s[i - 1] + s[i + 1]) / 2;
}
void main() {
    uint i = gl_LocalInvocationIndex + 1;
    s[i] = d[i];
    if (i == 1) { s[0] = d[0]; s[7] = d[7]; }
    barrier();
    // Red and black cells are relaxed in one step.
    relax(i);
    d[i] = s[i];
}
