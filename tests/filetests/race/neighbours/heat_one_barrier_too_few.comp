#version 450
//! buffer 0 int 0 0 0 64 0 0 0 0
//! finding data-race 14 13
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Cells { int d[]; };
shared int s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    for (int step = 0; step < 2; step++) {
        barrier();
        int left = s[(i + 7) % 8];
        s[i] = left;
    }
    d[i] = s[i];
}
