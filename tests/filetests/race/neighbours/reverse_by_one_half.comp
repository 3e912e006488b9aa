#version 450
//! buffer 0 int 1 2 3 4 5 6
//! expect 0 int 6 5 4 3 2 1
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    if (i >= 3) return;
    int here = d[i], there = d[5 - i];
    d[i] = there;
    d[5 - i] = here;
}
