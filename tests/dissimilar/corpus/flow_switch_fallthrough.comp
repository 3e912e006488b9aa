#version 450
//! buffer 0 int -1 0 1 2 3 7
layout(local_size_x = 6) in;
layout(binding = 0) buffer R { int r[]; };
int classified(int v) {
    int made = 0;
    switch (v) {
    case -1: made = 5;
    case 0: { int inner = made + 1; made = inner; } break;
    case 1:
    case 2: return 20;
    default: for (int k = 0; k < 3; ++k) { if (k == v) continue; made += k; }
    }
    return made;
}
void main() {
    uint u = uint(r[gl_LocalInvocationIndex]);
    switch (u) { case -1: r[gl_LocalInvocationIndex] = 99; return; default: break; }
    r[gl_LocalInvocationIndex] = classified(int(u));
}
