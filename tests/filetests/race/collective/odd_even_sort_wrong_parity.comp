#version 450
//! buffer 0 int 9 3 7 1 8 2 6 4
//! finding data-race 9 9
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
shared int s[8];
void order(uint a) {
    int x = s[a], y = s[a + 1]; if (x > y) { s[a] = y; s[a + 1] = x; }
}
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    barrier();
    for (uint step = 0; step < 8; step++) {
        if (i < 7) order(i);
        barrier();
    }
    d[i] = s[i];
}
