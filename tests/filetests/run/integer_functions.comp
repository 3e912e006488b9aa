#version 450
//! buffer 0 int 0*8
//! push int -7
//! expect 0 int -3 -1 7 2 -1 1 -28 31
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { int r[]; };
layout(push_constant) uniform P { int x; };
void main() {
    r[0] = x / 2; r[1] = sign(x); r[2] = abs(x); r[3] = findMSB(x);
    r[4] = x >> 3; r[5] = int(uint(x) >> 31); r[6] = x << 2; r[7] = bitfieldExtract(-1, 3, 5) & 31;
}
