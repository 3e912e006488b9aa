#version 450
//! buffer 0 int 0 0 0 0 256 0 0 0
//! expect 0 int 256 0 0 0 0 0 0 0
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Cells { int d[]; };
shared int s[2][8];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint now = 0;
    s[0][i] = d[i];
    barrier();
    for (uint step = 0; step < 4; step++) {
        s[1 - now][i] = s[now][(i + 7) % 8];
        now = 1 - now;
        barrier();
    }
    d[i] = s[now][i];
}
