#version 450
//! buffer 0 int 3 -1 4 -1 5 -9 2 6
//! buffer 1 int 0
//! expect 1 int 9
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { int from[]; };
layout(std430, set=0, binding=1) buffer Sum { int total; };
shared int s[16];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = from[i];
    s[i + 8] = 0;
    barrier();
    for (uint d = 1; d < 8; d *= 2) {
        if (i % (2 * d) == 0) s[i] += s[i + d];
        barrier();
    }
    if (i == 0) total = s[0];
}
