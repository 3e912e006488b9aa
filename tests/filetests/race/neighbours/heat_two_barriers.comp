#version 450
//! buffer 0 int 0 0 0 64 0 0 0 0
//! expect 0 int 0 4 16 24 16 4 0 0
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Cells { int d[]; };
shared int s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    for (int step = 0; step < 2; step++) {
        barrier();
        int left = s[(i + 7) % 8];
        int right = s[(i + 1) % 8];
        barrier();
        s[i] = left / 4 + s[i] / 2 + right / 4;
    }
    d[i] = s[i];
}
