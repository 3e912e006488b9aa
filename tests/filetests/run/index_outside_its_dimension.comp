#version 450
//! buffer 0 uint 0*8 1 2 3 4 5 6 7 8 9 9
//! uniform 1 uint 1 0 0 0 2 0 0 0 3 0 0 0 4 0 0 0 9 0 0 0
//! push uint 0 uint 2 uint 7 uint 7 uint 7 uint 7 uint 9
//! expect 0 uint 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 8 9 9
//! finding out-of-bounds 24
//! finding out-of-bounds 25
//! finding out-of-bounds 26
//! finding out-of-bounds 27
//! finding out-of-bounds 28
//! finding out-of-bounds 29
//! finding out-of-bounds 30
//! finding out-of-bounds 31
//! finding out-of-bounds 32
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[8]; uint rows[4][2]; uint more[2]; };
layout(std140, set=0, binding=1) uniform U { uint u[2][2]; uint behind; };
layout(push_constant) uniform P { uint i; uint j; uint p[2][2]; uint last; };
shared struct { uint rows[2][2]; uint more[4]; } s;
void main() {
    uint own[2][2] = uint[][](uint[](1, 2), uint[](3, 4));
    for (uint a = 0; a < 8; a++) if (a < 4) { s.rows[a / 2][a % 2] = 5; s.more[a] = 6; }
    // The first index is inside, the second one is not; what it leads to is there.
    r[0] = own[i][j];
    r[1] = rows[i][j];
    r[2] = u[i][j];
    r[3] = p[i][j];
    r[4] = s.rows[i][j];
    r[5] = s.rows[j][i];
    r[6] = u[j][i] + p[j][i];
    rows[i][j] = 9;
    rows[j + 2][i] = 9;
}
