#version 450
//! buffer 0 int 3 1 7 0 4 1 6 3
layout(local_size_x = 4) in;
layout(binding = 0) buffer D { int data[]; };
shared int s[8];
void main() {
    int t = int(gl_LocalInvocationID.x);
    s[2 * t] = data[2 * t];
    s[2 * t + 1] = data[2 * t + 1];
    int offset = 1;
    for (int d = 4; d > 0; d >>= 1) {
        barrier();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[7] = 0;
    for (int d = 1; d < 8; d *= 2) {
        offset >>= 1;
        barrier();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, kept = s[a];
            s[a] = s[b];
            s[b] += kept;
        }
    }
    barrier();
    data[2 * t] = s[2 * t];
    data[2 * t + 1] = s[2 * t + 1];
}
