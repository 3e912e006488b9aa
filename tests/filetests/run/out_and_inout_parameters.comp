#version 450
//! buffer 0 int 0*4
//! expect 0 int 4 10 3 6
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { int r[]; };
void f(int a, out int b, inout int c) {
    b = a + 1;
    c = c * 2 + b;
    a = 100;
}
void main() {
    int a = 3, b, c = 3;
    f(a, b, c);
    r[0] = b;
    r[1] = c;
    r[2] = a;
    int d = 1;
    f(1, b, d);
    f(d, b, a);
    r[3] = b + 1;
}
