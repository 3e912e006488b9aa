#version 450
//! buffer 0 int 0*6
//! push int -7 int 3
//! finding undefined-value 13
//! finding undefined-value 14
//! finding undefined-value 15
//! finding undefined-value 16
//! expect 0 int 2 -2 -1 0 1 0
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { int r[]; };
layout(push_constant) uniform P { int x, y; };
void main() {
    r[0] = x % y;
    r[1] = -x % -y;
    r[2] = x % -y;
    r[3] = (ivec2(y, x) % ivec2(y, 7)).y;
    r[4] = -x % y;
    r[5] = y % 3;
}
