#version 450
//! buffer 0 int 5 -6 100 -2147483648
//! buffer 1 int 0*12
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { ivec4 a; };
layout(binding = 1) buffer B { ivec4 b[3]; };
void main() {
    b[0] = bitCount(a) + findLSB(a) * 100;
    b[1] = findMSB(a) ^ bitfieldExtract(a, 2, 5);
    b[2] = sign(a) * max(a, 0) + bitfieldInsert(a, ~a, 4, 3) - abs(ivec4(a.xyz, 7));
    b[2].xy = b[2].yx;
    b[2].zw += 1;
    b[0].wz--;
    b[1].xyz.y = 12;
}
