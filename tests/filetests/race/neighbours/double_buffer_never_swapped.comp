#version 450
//! buffer 0 int 0 0 0 0 256 0 0 0
//! finding data-race 17 16
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Cells { int d[]; };
shared int s[2][8];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint now = 0;
    s[0][i] = d[i];
    s[1][i] = 0;
    barrier();
    for (uint step = 0; step < 4; step++) {
        // The half that is written is the half that the neighbours read: `now` stays as it is.
        int left = s[now][(i + 7) % 8];
        s[now][i] = left;
        barrier();
    }
    d[i] = s[now][i];
}
