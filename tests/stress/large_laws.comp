#version 450
// Written by tests/support/large_kernel.rs: change that file, not this text.
// groups: 2 1 1
// buffer: 0 int 64 random 7 -100 100
// buffer: 1 int 64 zero
// push: {"mode": 1}
layout(local_size_x = 32) in;
layout(constant_id = 0) const bool STRICT = true;
layout(std430, binding = 0) readonly buffer In { int source[]; };
layout(std430, binding = 1) writeonly buffer Out { int target[]; };
layout(push_constant) uniform P { int mode; };
int bounded(int x, int limit) { return x > limit ? limit : x < -limit ? -limit : x; }
void main() {
    int at = int(gl_GlobalInvocationID.x), x = source[at], y = source[63 - at];
    if (x > 81 && (y < 11 || source[22] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[41] > x && x > y || y == 81 && mode != 2) x++;
    if (x > -25 && (y < 4 || source[19] != 3) && !(x == y)) {
        x -= 4;
        if (x < 0 || y > 4 ^^ STRICT && mode > 0) y += 2;
    } else if (source[44] > x && x > y || y == -25 && mode != 2) x++;
    if (x > 98 && (y < 26 || source[13] != 3) && !(x == y)) {
        x -= 26;
        if (x < 0 || y > 26 ^^ STRICT && mode > 0) y += 2;
    } else if (source[50] > x && x > y || y == 98 && mode != 2) x++;
    if (x > 78 && (y < 17 || source[51] != 3) && !(x == y)) {
        x -= 17;
        if (x < 0 || y > 17 ^^ STRICT && mode > 0) y += 2;
    } else if (source[12] > x && x > y || y == 78 && mode != 2) x++;
    if (x > -40 && (y < 11 || source[1] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[62] > x && x > y || y == -40 && mode != 2) x++;
    if (x > 59 && (y < 23 || source[7] != 3) && !(x == y)) {
        x -= 23;
        if (x < 0 || y > 23 ^^ STRICT && mode > 0) y += 2;
    } else if (source[56] > x && x > y || y == 59 && mode != 2) x++;
    if (x > 8 && (y < 39 || source[5] != 3) && !(x == y)) {
        x -= 39;
        if (x < 0 || y > 39 ^^ STRICT && mode > 0) y += 2;
    } else if (source[58] > x && x > y || y == 8 && mode != 2) x++;
    if (x > -24 && (y < 32 || source[2] != 3) && !(x == y)) {
        x -= 32;
        if (x < 0 || y > 32 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == -24 && mode != 2) x++;
    if (x > 90 && (y < 31 || source[12] != 3) && !(x == y)) {
        x -= 31;
        if (x < 0 || y > 31 ^^ STRICT && mode > 0) y += 2;
    } else if (source[51] > x && x > y || y == 90 && mode != 2) x++;
    if (x > 70 && (y < 12 || source[0] != 3) && !(x == y)) {
        x -= 12;
        if (x < 0 || y > 12 ^^ STRICT && mode > 0) y += 2;
    } else if (source[63] > x && x > y || y == 70 && mode != 2) x++;
    if (x > -4 && (y < 45 || source[49] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[14] > x && x > y || y == -4 && mode != 2) x++;
    if (x > -75 && (y < 2 || source[12] != 3) && !(x == y)) {
        x -= 2;
        if (x < 0 || y > 2 ^^ STRICT && mode > 0) y += 2;
    } else if (source[51] > x && x > y || y == -75 && mode != 2) x++;
    if (x > -68 && (y < 4 || source[44] != 3) && !(x == y)) {
        x -= 4;
        if (x < 0 || y > 4 ^^ STRICT && mode > 0) y += 2;
    } else if (source[19] > x && x > y || y == -68 && mode != 2) x++;
    if (x > 14 && (y < 34 || source[10] != 3) && !(x == y)) {
        x -= 34;
        if (x < 0 || y > 34 ^^ STRICT && mode > 0) y += 2;
    } else if (source[53] > x && x > y || y == 14 && mode != 2) x++;
    if (x > 65 && (y < 42 || source[11] != 3) && !(x == y)) {
        x -= 42;
        if (x < 0 || y > 42 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 65 && mode != 2) x++;
    if (x > 5 && (y < 0 || source[60] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == 5 && mode != 2) x++;
    if (x > 80 && (y < 36 || source[62] != 3) && !(x == y)) {
        x -= 36;
        if (x < 0 || y > 36 ^^ STRICT && mode > 0) y += 2;
    } else if (source[1] > x && x > y || y == 80 && mode != 2) x++;
    if (x > -88 && (y < 28 || source[53] != 3) && !(x == y)) {
        x -= 28;
        if (x < 0 || y > 28 ^^ STRICT && mode > 0) y += 2;
    } else if (source[10] > x && x > y || y == -88 && mode != 2) x++;
    if (x > -13 && (y < 1 || source[41] != 3) && !(x == y)) {
        x -= 1;
        if (x < 0 || y > 1 ^^ STRICT && mode > 0) y += 2;
    } else if (source[22] > x && x > y || y == -13 && mode != 2) x++;
    if (x > 57 && (y < 6 || source[16] != 3) && !(x == y)) {
        x -= 6;
        if (x < 0 || y > 6 ^^ STRICT && mode > 0) y += 2;
    } else if (source[47] > x && x > y || y == 57 && mode != 2) x++;
    if (x > 17 && (y < 4 || source[57] != 3) && !(x == y)) {
        x -= 4;
        if (x < 0 || y > 4 ^^ STRICT && mode > 0) y += 2;
    } else if (source[6] > x && x > y || y == 17 && mode != 2) x++;
    if (x > 78 && (y < 9 || source[51] != 3) && !(x == y)) {
        x -= 9;
        if (x < 0 || y > 9 ^^ STRICT && mode > 0) y += 2;
    } else if (source[12] > x && x > y || y == 78 && mode != 2) x++;
    if (x > 17 && (y < 8 || source[14] != 3) && !(x == y)) {
        x -= 8;
        if (x < 0 || y > 8 ^^ STRICT && mode > 0) y += 2;
    } else if (source[49] > x && x > y || y == 17 && mode != 2) x++;
    if (x > 97 && (y < 48 || source[46] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == 97 && mode != 2) x++;
    if (x > 30 && (y < 38 || source[9] != 3) && !(x == y)) {
        x -= 38;
        if (x < 0 || y > 38 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == 30 && mode != 2) x++;
    if (x > 89 && (y < 49 || source[36] != 3) && !(x == y)) {
        x -= 49;
        if (x < 0 || y > 49 ^^ STRICT && mode > 0) y += 2;
    } else if (source[27] > x && x > y || y == 89 && mode != 2) x++;
    if (x > -87 && (y < 40 || source[15] != 3) && !(x == y)) {
        x -= 40;
        if (x < 0 || y > 40 ^^ STRICT && mode > 0) y += 2;
    } else if (source[48] > x && x > y || y == -87 && mode != 2) x++;
    if (x > 23 && (y < 3 || source[31] != 3) && !(x == y)) {
        x -= 3;
        if (x < 0 || y > 3 ^^ STRICT && mode > 0) y += 2;
    } else if (source[32] > x && x > y || y == 23 && mode != 2) x++;
    if (x > -35 && (y < 44 || source[12] != 3) && !(x == y)) {
        x -= 44;
        if (x < 0 || y > 44 ^^ STRICT && mode > 0) y += 2;
    } else if (source[51] > x && x > y || y == -35 && mode != 2) x++;
    if (x > 56 && (y < 33 || source[8] != 3) && !(x == y)) {
        x -= 33;
        if (x < 0 || y > 33 ^^ STRICT && mode > 0) y += 2;
    } else if (source[55] > x && x > y || y == 56 && mode != 2) x++;
    if (x > -71 && (y < 36 || source[60] != 3) && !(x == y)) {
        x -= 36;
        if (x < 0 || y > 36 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == -71 && mode != 2) x++;
    if (x > 75 && (y < 19 || source[42] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 75 && mode != 2) x++;
    if (x > -11 && (y < 5 || source[30] != 3) && !(x == y)) {
        x -= 5;
        if (x < 0 || y > 5 ^^ STRICT && mode > 0) y += 2;
    } else if (source[33] > x && x > y || y == -11 && mode != 2) x++;
    if (x > 26 && (y < 14 || source[13] != 3) && !(x == y)) {
        x -= 14;
        if (x < 0 || y > 14 ^^ STRICT && mode > 0) y += 2;
    } else if (source[50] > x && x > y || y == 26 && mode != 2) x++;
    if (x > -72 && (y < 6 || source[57] != 3) && !(x == y)) {
        x -= 6;
        if (x < 0 || y > 6 ^^ STRICT && mode > 0) y += 2;
    } else if (source[6] > x && x > y || y == -72 && mode != 2) x++;
    if (x > 21 && (y < 32 || source[61] != 3) && !(x == y)) {
        x -= 32;
        if (x < 0 || y > 32 ^^ STRICT && mode > 0) y += 2;
    } else if (source[2] > x && x > y || y == 21 && mode != 2) x++;
    if (x > -70 && (y < 11 || source[7] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[56] > x && x > y || y == -70 && mode != 2) x++;
    if (x > -94 && (y < 23 || source[22] != 3) && !(x == y)) {
        x -= 23;
        if (x < 0 || y > 23 ^^ STRICT && mode > 0) y += 2;
    } else if (source[41] > x && x > y || y == -94 && mode != 2) x++;
    if (x > 4 && (y < 39 || source[40] != 3) && !(x == y)) {
        x -= 39;
        if (x < 0 || y > 39 ^^ STRICT && mode > 0) y += 2;
    } else if (source[23] > x && x > y || y == 4 && mode != 2) x++;
    if (x > -94 && (y < 20 || source[54] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[9] > x && x > y || y == -94 && mode != 2) x++;
    if (x > -29 && (y < 48 || source[14] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[49] > x && x > y || y == -29 && mode != 2) x++;
    if (x > -96 && (y < 13 || source[55] != 3) && !(x == y)) {
        x -= 13;
        if (x < 0 || y > 13 ^^ STRICT && mode > 0) y += 2;
    } else if (source[8] > x && x > y || y == -96 && mode != 2) x++;
    if (x > 10 && (y < 49 || source[28] != 3) && !(x == y)) {
        x -= 49;
        if (x < 0 || y > 49 ^^ STRICT && mode > 0) y += 2;
    } else if (source[35] > x && x > y || y == 10 && mode != 2) x++;
    if (x > 41 && (y < 23 || source[20] != 3) && !(x == y)) {
        x -= 23;
        if (x < 0 || y > 23 ^^ STRICT && mode > 0) y += 2;
    } else if (source[43] > x && x > y || y == 41 && mode != 2) x++;
    if (x > -91 && (y < 39 || source[36] != 3) && !(x == y)) {
        x -= 39;
        if (x < 0 || y > 39 ^^ STRICT && mode > 0) y += 2;
    } else if (source[27] > x && x > y || y == -91 && mode != 2) x++;
    if (x > -93 && (y < 46 || source[59] != 3) && !(x == y)) {
        x -= 46;
        if (x < 0 || y > 46 ^^ STRICT && mode > 0) y += 2;
    } else if (source[4] > x && x > y || y == -93 && mode != 2) x++;
    if (x > -64 && (y < 39 || source[2] != 3) && !(x == y)) {
        x -= 39;
        if (x < 0 || y > 39 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == -64 && mode != 2) x++;
    if (x > -80 && (y < 19 || source[50] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[13] > x && x > y || y == -80 && mode != 2) x++;
    if (x > -76 && (y < 35 || source[14] != 3) && !(x == y)) {
        x -= 35;
        if (x < 0 || y > 35 ^^ STRICT && mode > 0) y += 2;
    } else if (source[49] > x && x > y || y == -76 && mode != 2) x++;
    if (x > -66 && (y < 31 || source[59] != 3) && !(x == y)) {
        x -= 31;
        if (x < 0 || y > 31 ^^ STRICT && mode > 0) y += 2;
    } else if (source[4] > x && x > y || y == -66 && mode != 2) x++;
    if (x > -16 && (y < 21 || source[25] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[38] > x && x > y || y == -16 && mode != 2) x++;
    if (x > -99 && (y < 0 || source[40] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[23] > x && x > y || y == -99 && mode != 2) x++;
    if (x > 45 && (y < 24 || source[56] != 3) && !(x == y)) {
        x -= 24;
        if (x < 0 || y > 24 ^^ STRICT && mode > 0) y += 2;
    } else if (source[7] > x && x > y || y == 45 && mode != 2) x++;
    if (x > -88 && (y < 7 || source[15] != 3) && !(x == y)) {
        x -= 7;
        if (x < 0 || y > 7 ^^ STRICT && mode > 0) y += 2;
    } else if (source[48] > x && x > y || y == -88 && mode != 2) x++;
    if (x > 2 && (y < 13 || source[20] != 3) && !(x == y)) {
        x -= 13;
        if (x < 0 || y > 13 ^^ STRICT && mode > 0) y += 2;
    } else if (source[43] > x && x > y || y == 2 && mode != 2) x++;
    if (x > -65 && (y < 27 || source[42] != 3) && !(x == y)) {
        x -= 27;
        if (x < 0 || y > 27 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == -65 && mode != 2) x++;
    if (x > 0 && (y < 21 || source[3] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[60] > x && x > y || y == 0 && mode != 2) x++;
    if (x > -49 && (y < 7 || source[45] != 3) && !(x == y)) {
        x -= 7;
        if (x < 0 || y > 7 ^^ STRICT && mode > 0) y += 2;
    } else if (source[18] > x && x > y || y == -49 && mode != 2) x++;
    if (x > -26 && (y < 22 || source[23] != 3) && !(x == y)) {
        x -= 22;
        if (x < 0 || y > 22 ^^ STRICT && mode > 0) y += 2;
    } else if (source[40] > x && x > y || y == -26 && mode != 2) x++;
    if (x > -26 && (y < 46 || source[56] != 3) && !(x == y)) {
        x -= 46;
        if (x < 0 || y > 46 ^^ STRICT && mode > 0) y += 2;
    } else if (source[7] > x && x > y || y == -26 && mode != 2) x++;
    if (x > 16 && (y < 28 || source[53] != 3) && !(x == y)) {
        x -= 28;
        if (x < 0 || y > 28 ^^ STRICT && mode > 0) y += 2;
    } else if (source[10] > x && x > y || y == 16 && mode != 2) x++;
    if (x > -3 && (y < 2 || source[8] != 3) && !(x == y)) {
        x -= 2;
        if (x < 0 || y > 2 ^^ STRICT && mode > 0) y += 2;
    } else if (source[55] > x && x > y || y == -3 && mode != 2) x++;
    if (x > 22 && (y < 27 || source[42] != 3) && !(x == y)) {
        x -= 27;
        if (x < 0 || y > 27 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 22 && mode != 2) x++;
    if (x > -2 && (y < 0 || source[40] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[23] > x && x > y || y == -2 && mode != 2) x++;
    if (x > -4 && (y < 36 || source[44] != 3) && !(x == y)) {
        x -= 36;
        if (x < 0 || y > 36 ^^ STRICT && mode > 0) y += 2;
    } else if (source[19] > x && x > y || y == -4 && mode != 2) x++;
    if (x > -98 && (y < 7 || source[53] != 3) && !(x == y)) {
        x -= 7;
        if (x < 0 || y > 7 ^^ STRICT && mode > 0) y += 2;
    } else if (source[10] > x && x > y || y == -98 && mode != 2) x++;
    if (x > 24 && (y < 18 || source[11] != 3) && !(x == y)) {
        x -= 18;
        if (x < 0 || y > 18 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 24 && mode != 2) x++;
    if (x > -43 && (y < 20 || source[2] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == -43 && mode != 2) x++;
    if (x > -48 && (y < 48 || source[48] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == -48 && mode != 2) x++;
    if (x > -53 && (y < 49 || source[55] != 3) && !(x == y)) {
        x -= 49;
        if (x < 0 || y > 49 ^^ STRICT && mode > 0) y += 2;
    } else if (source[8] > x && x > y || y == -53 && mode != 2) x++;
    if (x > -80 && (y < 17 || source[47] != 3) && !(x == y)) {
        x -= 17;
        if (x < 0 || y > 17 ^^ STRICT && mode > 0) y += 2;
    } else if (source[16] > x && x > y || y == -80 && mode != 2) x++;
    if (x > -68 && (y < 6 || source[63] != 3) && !(x == y)) {
        x -= 6;
        if (x < 0 || y > 6 ^^ STRICT && mode > 0) y += 2;
    } else if (source[0] > x && x > y || y == -68 && mode != 2) x++;
    if (x > 65 && (y < 8 || source[25] != 3) && !(x == y)) {
        x -= 8;
        if (x < 0 || y > 8 ^^ STRICT && mode > 0) y += 2;
    } else if (source[38] > x && x > y || y == 65 && mode != 2) x++;
    if (x > -57 && (y < 36 || source[31] != 3) && !(x == y)) {
        x -= 36;
        if (x < 0 || y > 36 ^^ STRICT && mode > 0) y += 2;
    } else if (source[32] > x && x > y || y == -57 && mode != 2) x++;
    if (x > -51 && (y < 31 || source[30] != 3) && !(x == y)) {
        x -= 31;
        if (x < 0 || y > 31 ^^ STRICT && mode > 0) y += 2;
    } else if (source[33] > x && x > y || y == -51 && mode != 2) x++;
    if (x > -22 && (y < 9 || source[24] != 3) && !(x == y)) {
        x -= 9;
        if (x < 0 || y > 9 ^^ STRICT && mode > 0) y += 2;
    } else if (source[39] > x && x > y || y == -22 && mode != 2) x++;
    if (x > 69 && (y < 20 || source[11] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 69 && mode != 2) x++;
    if (x > 2 && (y < 14 || source[48] != 3) && !(x == y)) {
        x -= 14;
        if (x < 0 || y > 14 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == 2 && mode != 2) x++;
    if (x > -38 && (y < 0 || source[34] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[29] > x && x > y || y == -38 && mode != 2) x++;
    if (x > -25 && (y < 20 || source[28] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[35] > x && x > y || y == -25 && mode != 2) x++;
    if (x > 23 && (y < 22 || source[7] != 3) && !(x == y)) {
        x -= 22;
        if (x < 0 || y > 22 ^^ STRICT && mode > 0) y += 2;
    } else if (source[56] > x && x > y || y == 23 && mode != 2) x++;
    if (x > 19 && (y < 12 || source[44] != 3) && !(x == y)) {
        x -= 12;
        if (x < 0 || y > 12 ^^ STRICT && mode > 0) y += 2;
    } else if (source[19] > x && x > y || y == 19 && mode != 2) x++;
    if (x > 13 && (y < 35 || source[27] != 3) && !(x == y)) {
        x -= 35;
        if (x < 0 || y > 35 ^^ STRICT && mode > 0) y += 2;
    } else if (source[36] > x && x > y || y == 13 && mode != 2) x++;
    if (x > -80 && (y < 28 || source[61] != 3) && !(x == y)) {
        x -= 28;
        if (x < 0 || y > 28 ^^ STRICT && mode > 0) y += 2;
    } else if (source[2] > x && x > y || y == -80 && mode != 2) x++;
    if (x > 23 && (y < 48 || source[58] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[5] > x && x > y || y == 23 && mode != 2) x++;
    if (x > -31 && (y < 30 || source[63] != 3) && !(x == y)) {
        x -= 30;
        if (x < 0 || y > 30 ^^ STRICT && mode > 0) y += 2;
    } else if (source[0] > x && x > y || y == -31 && mode != 2) x++;
    if (x > 95 && (y < 5 || source[46] != 3) && !(x == y)) {
        x -= 5;
        if (x < 0 || y > 5 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == 95 && mode != 2) x++;
    if (x > -18 && (y < 15 || source[20] != 3) && !(x == y)) {
        x -= 15;
        if (x < 0 || y > 15 ^^ STRICT && mode > 0) y += 2;
    } else if (source[43] > x && x > y || y == -18 && mode != 2) x++;
    if (x > -51 && (y < 0 || source[60] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == -51 && mode != 2) x++;
    if (x > 2 && (y < 22 || source[46] != 3) && !(x == y)) {
        x -= 22;
        if (x < 0 || y > 22 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == 2 && mode != 2) x++;
    if (x > 26 && (y < 41 || source[54] != 3) && !(x == y)) {
        x -= 41;
        if (x < 0 || y > 41 ^^ STRICT && mode > 0) y += 2;
    } else if (source[9] > x && x > y || y == 26 && mode != 2) x++;
    if (x > -46 && (y < 14 || source[51] != 3) && !(x == y)) {
        x -= 14;
        if (x < 0 || y > 14 ^^ STRICT && mode > 0) y += 2;
    } else if (source[12] > x && x > y || y == -46 && mode != 2) x++;
    if (x > -6 && (y < 16 || source[15] != 3) && !(x == y)) {
        x -= 16;
        if (x < 0 || y > 16 ^^ STRICT && mode > 0) y += 2;
    } else if (source[48] > x && x > y || y == -6 && mode != 2) x++;
    if (x > 8 && (y < 44 || source[10] != 3) && !(x == y)) {
        x -= 44;
        if (x < 0 || y > 44 ^^ STRICT && mode > 0) y += 2;
    } else if (source[53] > x && x > y || y == 8 && mode != 2) x++;
    if (x > 81 && (y < 34 || source[11] != 3) && !(x == y)) {
        x -= 34;
        if (x < 0 || y > 34 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 81 && mode != 2) x++;
    if (x > 63 && (y < 43 || source[62] != 3) && !(x == y)) {
        x -= 43;
        if (x < 0 || y > 43 ^^ STRICT && mode > 0) y += 2;
    } else if (source[1] > x && x > y || y == 63 && mode != 2) x++;
    if (x > -11 && (y < 49 || source[7] != 3) && !(x == y)) {
        x -= 49;
        if (x < 0 || y > 49 ^^ STRICT && mode > 0) y += 2;
    } else if (source[56] > x && x > y || y == -11 && mode != 2) x++;
    if (x > -97 && (y < 16 || source[0] != 3) && !(x == y)) {
        x -= 16;
        if (x < 0 || y > 16 ^^ STRICT && mode > 0) y += 2;
    } else if (source[63] > x && x > y || y == -97 && mode != 2) x++;
    if (x > 60 && (y < 11 || source[54] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[9] > x && x > y || y == 60 && mode != 2) x++;
    if (x > -9 && (y < 26 || source[0] != 3) && !(x == y)) {
        x -= 26;
        if (x < 0 || y > 26 ^^ STRICT && mode > 0) y += 2;
    } else if (source[63] > x && x > y || y == -9 && mode != 2) x++;
    if (x > -91 && (y < 15 || source[57] != 3) && !(x == y)) {
        x -= 15;
        if (x < 0 || y > 15 ^^ STRICT && mode > 0) y += 2;
    } else if (source[6] > x && x > y || y == -91 && mode != 2) x++;
    if (x > -34 && (y < 6 || source[41] != 3) && !(x == y)) {
        x -= 6;
        if (x < 0 || y > 6 ^^ STRICT && mode > 0) y += 2;
    } else if (source[22] > x && x > y || y == -34 && mode != 2) x++;
    if (x > -27 && (y < 21 || source[42] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == -27 && mode != 2) x++;
    if (x > 42 && (y < 45 || source[15] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[48] > x && x > y || y == 42 && mode != 2) x++;
    if (x > -9 && (y < 11 || source[5] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[58] > x && x > y || y == -9 && mode != 2) x++;
    if (x > 64 && (y < 45 || source[32] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[31] > x && x > y || y == 64 && mode != 2) x++;
    if (x > -23 && (y < 27 || source[2] != 3) && !(x == y)) {
        x -= 27;
        if (x < 0 || y > 27 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == -23 && mode != 2) x++;
    if (x > 25 && (y < 37 || source[11] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 25 && mode != 2) x++;
    if (x > -44 && (y < 20 || source[48] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == -44 && mode != 2) x++;
    if (x > -77 && (y < 30 || source[35] != 3) && !(x == y)) {
        x -= 30;
        if (x < 0 || y > 30 ^^ STRICT && mode > 0) y += 2;
    } else if (source[28] > x && x > y || y == -77 && mode != 2) x++;
    if (x > 21 && (y < 17 || source[27] != 3) && !(x == y)) {
        x -= 17;
        if (x < 0 || y > 17 ^^ STRICT && mode > 0) y += 2;
    } else if (source[36] > x && x > y || y == 21 && mode != 2) x++;
    if (x > -91 && (y < 30 || source[14] != 3) && !(x == y)) {
        x -= 30;
        if (x < 0 || y > 30 ^^ STRICT && mode > 0) y += 2;
    } else if (source[49] > x && x > y || y == -91 && mode != 2) x++;
    if (x > -3 && (y < 20 || source[5] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[58] > x && x > y || y == -3 && mode != 2) x++;
    if (x > 9 && (y < 36 || source[51] != 3) && !(x == y)) {
        x -= 36;
        if (x < 0 || y > 36 ^^ STRICT && mode > 0) y += 2;
    } else if (source[12] > x && x > y || y == 9 && mode != 2) x++;
    if (x > -56 && (y < 37 || source[32] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[31] > x && x > y || y == -56 && mode != 2) x++;
    if (x > 11 && (y < 3 || source[11] != 3) && !(x == y)) {
        x -= 3;
        if (x < 0 || y > 3 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 11 && mode != 2) x++;
    if (x > 2 && (y < 49 || source[46] != 3) && !(x == y)) {
        x -= 49;
        if (x < 0 || y > 49 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == 2 && mode != 2) x++;
    if (x > -73 && (y < 14 || source[35] != 3) && !(x == y)) {
        x -= 14;
        if (x < 0 || y > 14 ^^ STRICT && mode > 0) y += 2;
    } else if (source[28] > x && x > y || y == -73 && mode != 2) x++;
    if (x > -44 && (y < 37 || source[47] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[16] > x && x > y || y == -44 && mode != 2) x++;
    if (x > 91 && (y < 11 || source[9] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == 91 && mode != 2) x++;
    if (x > 36 && (y < 34 || source[39] != 3) && !(x == y)) {
        x -= 34;
        if (x < 0 || y > 34 ^^ STRICT && mode > 0) y += 2;
    } else if (source[24] > x && x > y || y == 36 && mode != 2) x++;
    if (x > -14 && (y < 35 || source[6] != 3) && !(x == y)) {
        x -= 35;
        if (x < 0 || y > 35 ^^ STRICT && mode > 0) y += 2;
    } else if (source[57] > x && x > y || y == -14 && mode != 2) x++;
    if (x > -86 && (y < 43 || source[37] != 3) && !(x == y)) {
        x -= 43;
        if (x < 0 || y > 43 ^^ STRICT && mode > 0) y += 2;
    } else if (source[26] > x && x > y || y == -86 && mode != 2) x++;
    if (x > -63 && (y < 10 || source[60] != 3) && !(x == y)) {
        x -= 10;
        if (x < 0 || y > 10 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == -63 && mode != 2) x++;
    if (x > -50 && (y < 5 || source[45] != 3) && !(x == y)) {
        x -= 5;
        if (x < 0 || y > 5 ^^ STRICT && mode > 0) y += 2;
    } else if (source[18] > x && x > y || y == -50 && mode != 2) x++;
    if (x > -28 && (y < 16 || source[58] != 3) && !(x == y)) {
        x -= 16;
        if (x < 0 || y > 16 ^^ STRICT && mode > 0) y += 2;
    } else if (source[5] > x && x > y || y == -28 && mode != 2) x++;
    if (x > -43 && (y < 3 || source[63] != 3) && !(x == y)) {
        x -= 3;
        if (x < 0 || y > 3 ^^ STRICT && mode > 0) y += 2;
    } else if (source[0] > x && x > y || y == -43 && mode != 2) x++;
    if (x > 46 && (y < 10 || source[38] != 3) && !(x == y)) {
        x -= 10;
        if (x < 0 || y > 10 ^^ STRICT && mode > 0) y += 2;
    } else if (source[25] > x && x > y || y == 46 && mode != 2) x++;
    if (x > -44 && (y < 45 || source[38] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[25] > x && x > y || y == -44 && mode != 2) x++;
    if (x > -97 && (y < 0 || source[21] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[42] > x && x > y || y == -97 && mode != 2) x++;
    if (x > 44 && (y < 26 || source[32] != 3) && !(x == y)) {
        x -= 26;
        if (x < 0 || y > 26 ^^ STRICT && mode > 0) y += 2;
    } else if (source[31] > x && x > y || y == 44 && mode != 2) x++;
    if (x > -19 && (y < 9 || source[13] != 3) && !(x == y)) {
        x -= 9;
        if (x < 0 || y > 9 ^^ STRICT && mode > 0) y += 2;
    } else if (source[50] > x && x > y || y == -19 && mode != 2) x++;
    if (x > -23 && (y < 3 || source[28] != 3) && !(x == y)) {
        x -= 3;
        if (x < 0 || y > 3 ^^ STRICT && mode > 0) y += 2;
    } else if (source[35] > x && x > y || y == -23 && mode != 2) x++;
    if (x > 83 && (y < 21 || source[14] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[49] > x && x > y || y == 83 && mode != 2) x++;
    if (x > -22 && (y < 16 || source[28] != 3) && !(x == y)) {
        x -= 16;
        if (x < 0 || y > 16 ^^ STRICT && mode > 0) y += 2;
    } else if (source[35] > x && x > y || y == -22 && mode != 2) x++;
    if (x > 20 && (y < 32 || source[10] != 3) && !(x == y)) {
        x -= 32;
        if (x < 0 || y > 32 ^^ STRICT && mode > 0) y += 2;
    } else if (source[53] > x && x > y || y == 20 && mode != 2) x++;
    if (x > 30 && (y < 28 || source[16] != 3) && !(x == y)) {
        x -= 28;
        if (x < 0 || y > 28 ^^ STRICT && mode > 0) y += 2;
    } else if (source[47] > x && x > y || y == 30 && mode != 2) x++;
    if (x > -36 && (y < 1 || source[28] != 3) && !(x == y)) {
        x -= 1;
        if (x < 0 || y > 1 ^^ STRICT && mode > 0) y += 2;
    } else if (source[35] > x && x > y || y == -36 && mode != 2) x++;
    if (x > 26 && (y < 22 || source[14] != 3) && !(x == y)) {
        x -= 22;
        if (x < 0 || y > 22 ^^ STRICT && mode > 0) y += 2;
    } else if (source[49] > x && x > y || y == 26 && mode != 2) x++;
    if (x > 24 && (y < 45 || source[54] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[9] > x && x > y || y == 24 && mode != 2) x++;
    if (x > -33 && (y < 21 || source[46] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == -33 && mode != 2) x++;
    if (x > -86 && (y < 37 || source[30] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[33] > x && x > y || y == -86 && mode != 2) x++;
    if (x > -19 && (y < 16 || source[18] != 3) && !(x == y)) {
        x -= 16;
        if (x < 0 || y > 16 ^^ STRICT && mode > 0) y += 2;
    } else if (source[45] > x && x > y || y == -19 && mode != 2) x++;
    if (x > -72 && (y < 7 || source[16] != 3) && !(x == y)) {
        x -= 7;
        if (x < 0 || y > 7 ^^ STRICT && mode > 0) y += 2;
    } else if (source[47] > x && x > y || y == -72 && mode != 2) x++;
    if (x > 80 && (y < 8 || source[43] != 3) && !(x == y)) {
        x -= 8;
        if (x < 0 || y > 8 ^^ STRICT && mode > 0) y += 2;
    } else if (source[20] > x && x > y || y == 80 && mode != 2) x++;
    if (x > 53 && (y < 12 || source[2] != 3) && !(x == y)) {
        x -= 12;
        if (x < 0 || y > 12 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == 53 && mode != 2) x++;
    if (x > -46 && (y < 9 || source[12] != 3) && !(x == y)) {
        x -= 9;
        if (x < 0 || y > 9 ^^ STRICT && mode > 0) y += 2;
    } else if (source[51] > x && x > y || y == -46 && mode != 2) x++;
    if (x > -6 && (y < 22 || source[46] != 3) && !(x == y)) {
        x -= 22;
        if (x < 0 || y > 22 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == -6 && mode != 2) x++;
    if (x > 98 && (y < 12 || source[2] != 3) && !(x == y)) {
        x -= 12;
        if (x < 0 || y > 12 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == 98 && mode != 2) x++;
    if (x > 18 && (y < 26 || source[24] != 3) && !(x == y)) {
        x -= 26;
        if (x < 0 || y > 26 ^^ STRICT && mode > 0) y += 2;
    } else if (source[39] > x && x > y || y == 18 && mode != 2) x++;
    if (x > 21 && (y < 47 || source[6] != 3) && !(x == y)) {
        x -= 47;
        if (x < 0 || y > 47 ^^ STRICT && mode > 0) y += 2;
    } else if (source[57] > x && x > y || y == 21 && mode != 2) x++;
    if (x > 17 && (y < 0 || source[32] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[31] > x && x > y || y == 17 && mode != 2) x++;
    if (x > 74 && (y < 1 || source[9] != 3) && !(x == y)) {
        x -= 1;
        if (x < 0 || y > 1 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == 74 && mode != 2) x++;
    if (x > 51 && (y < 22 || source[48] != 3) && !(x == y)) {
        x -= 22;
        if (x < 0 || y > 22 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == 51 && mode != 2) x++;
    if (x > 91 && (y < 44 || source[42] != 3) && !(x == y)) {
        x -= 44;
        if (x < 0 || y > 44 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 91 && mode != 2) x++;
    if (x > 49 && (y < 29 || source[48] != 3) && !(x == y)) {
        x -= 29;
        if (x < 0 || y > 29 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == 49 && mode != 2) x++;
    if (x > -63 && (y < 35 || source[1] != 3) && !(x == y)) {
        x -= 35;
        if (x < 0 || y > 35 ^^ STRICT && mode > 0) y += 2;
    } else if (source[62] > x && x > y || y == -63 && mode != 2) x++;
    if (x > 85 && (y < 45 || source[57] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[6] > x && x > y || y == 85 && mode != 2) x++;
    if (x > -22 && (y < 12 || source[18] != 3) && !(x == y)) {
        x -= 12;
        if (x < 0 || y > 12 ^^ STRICT && mode > 0) y += 2;
    } else if (source[45] > x && x > y || y == -22 && mode != 2) x++;
    if (x > -6 && (y < 47 || source[44] != 3) && !(x == y)) {
        x -= 47;
        if (x < 0 || y > 47 ^^ STRICT && mode > 0) y += 2;
    } else if (source[19] > x && x > y || y == -6 && mode != 2) x++;
    if (x > 10 && (y < 0 || source[0] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[63] > x && x > y || y == 10 && mode != 2) x++;
    if (x > 19 && (y < 25 || source[16] != 3) && !(x == y)) {
        x -= 25;
        if (x < 0 || y > 25 ^^ STRICT && mode > 0) y += 2;
    } else if (source[47] > x && x > y || y == 19 && mode != 2) x++;
    if (x > 11 && (y < 1 || source[4] != 3) && !(x == y)) {
        x -= 1;
        if (x < 0 || y > 1 ^^ STRICT && mode > 0) y += 2;
    } else if (source[59] > x && x > y || y == 11 && mode != 2) x++;
    if (x > 52 && (y < 33 || source[5] != 3) && !(x == y)) {
        x -= 33;
        if (x < 0 || y > 33 ^^ STRICT && mode > 0) y += 2;
    } else if (source[58] > x && x > y || y == 52 && mode != 2) x++;
    if (x > -68 && (y < 47 || source[52] != 3) && !(x == y)) {
        x -= 47;
        if (x < 0 || y > 47 ^^ STRICT && mode > 0) y += 2;
    } else if (source[11] > x && x > y || y == -68 && mode != 2) x++;
    if (x > -58 && (y < 19 || source[2] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[61] > x && x > y || y == -58 && mode != 2) x++;
    if (x > 44 && (y < 39 || source[42] != 3) && !(x == y)) {
        x -= 39;
        if (x < 0 || y > 39 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 44 && mode != 2) x++;
    if (x > -81 && (y < 38 || source[61] != 3) && !(x == y)) {
        x -= 38;
        if (x < 0 || y > 38 ^^ STRICT && mode > 0) y += 2;
    } else if (source[2] > x && x > y || y == -81 && mode != 2) x++;
    if (x > 85 && (y < 35 || source[19] != 3) && !(x == y)) {
        x -= 35;
        if (x < 0 || y > 35 ^^ STRICT && mode > 0) y += 2;
    } else if (source[44] > x && x > y || y == 85 && mode != 2) x++;
    if (x > -37 && (y < 29 || source[13] != 3) && !(x == y)) {
        x -= 29;
        if (x < 0 || y > 29 ^^ STRICT && mode > 0) y += 2;
    } else if (source[50] > x && x > y || y == -37 && mode != 2) x++;
    if (x > 5 && (y < 29 || source[7] != 3) && !(x == y)) {
        x -= 29;
        if (x < 0 || y > 29 ^^ STRICT && mode > 0) y += 2;
    } else if (source[56] > x && x > y || y == 5 && mode != 2) x++;
    if (x > -99 && (y < 31 || source[9] != 3) && !(x == y)) {
        x -= 31;
        if (x < 0 || y > 31 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == -99 && mode != 2) x++;
    if (x > 92 && (y < 10 || source[46] != 3) && !(x == y)) {
        x -= 10;
        if (x < 0 || y > 10 ^^ STRICT && mode > 0) y += 2;
    } else if (source[17] > x && x > y || y == 92 && mode != 2) x++;
    if (x > 42 && (y < 19 || source[41] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[22] > x && x > y || y == 42 && mode != 2) x++;
    if (x > 40 && (y < 30 || source[45] != 3) && !(x == y)) {
        x -= 30;
        if (x < 0 || y > 30 ^^ STRICT && mode > 0) y += 2;
    } else if (source[18] > x && x > y || y == 40 && mode != 2) x++;
    if (x > -76 && (y < 14 || source[53] != 3) && !(x == y)) {
        x -= 14;
        if (x < 0 || y > 14 ^^ STRICT && mode > 0) y += 2;
    } else if (source[10] > x && x > y || y == -76 && mode != 2) x++;
    if (x > -6 && (y < 7 || source[61] != 3) && !(x == y)) {
        x -= 7;
        if (x < 0 || y > 7 ^^ STRICT && mode > 0) y += 2;
    } else if (source[2] > x && x > y || y == -6 && mode != 2) x++;
    if (x > -10 && (y < 33 || source[17] != 3) && !(x == y)) {
        x -= 33;
        if (x < 0 || y > 33 ^^ STRICT && mode > 0) y += 2;
    } else if (source[46] > x && x > y || y == -10 && mode != 2) x++;
    if (x > -28 && (y < 47 || source[21] != 3) && !(x == y)) {
        x -= 47;
        if (x < 0 || y > 47 ^^ STRICT && mode > 0) y += 2;
    } else if (source[42] > x && x > y || y == -28 && mode != 2) x++;
    if (x > 4 && (y < 21 || source[11] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 4 && mode != 2) x++;
    if (x > -61 && (y < 34 || source[10] != 3) && !(x == y)) {
        x -= 34;
        if (x < 0 || y > 34 ^^ STRICT && mode > 0) y += 2;
    } else if (source[53] > x && x > y || y == -61 && mode != 2) x++;
    if (x > -60 && (y < 29 || source[10] != 3) && !(x == y)) {
        x -= 29;
        if (x < 0 || y > 29 ^^ STRICT && mode > 0) y += 2;
    } else if (source[53] > x && x > y || y == -60 && mode != 2) x++;
    if (x > 83 && (y < 34 || source[42] != 3) && !(x == y)) {
        x -= 34;
        if (x < 0 || y > 34 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 83 && mode != 2) x++;
    if (x > -7 && (y < 25 || source[44] != 3) && !(x == y)) {
        x -= 25;
        if (x < 0 || y > 25 ^^ STRICT && mode > 0) y += 2;
    } else if (source[19] > x && x > y || y == -7 && mode != 2) x++;
    if (x > -10 && (y < 9 || source[48] != 3) && !(x == y)) {
        x -= 9;
        if (x < 0 || y > 9 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == -10 && mode != 2) x++;
    if (x > -32 && (y < 19 || source[33] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[30] > x && x > y || y == -32 && mode != 2) x++;
    if (x > 23 && (y < 14 || source[25] != 3) && !(x == y)) {
        x -= 14;
        if (x < 0 || y > 14 ^^ STRICT && mode > 0) y += 2;
    } else if (source[38] > x && x > y || y == 23 && mode != 2) x++;
    if (x > -88 && (y < 24 || source[32] != 3) && !(x == y)) {
        x -= 24;
        if (x < 0 || y > 24 ^^ STRICT && mode > 0) y += 2;
    } else if (source[31] > x && x > y || y == -88 && mode != 2) x++;
    if (x > 19 && (y < 35 || source[33] != 3) && !(x == y)) {
        x -= 35;
        if (x < 0 || y > 35 ^^ STRICT && mode > 0) y += 2;
    } else if (source[30] > x && x > y || y == 19 && mode != 2) x++;
    if (x > 52 && (y < 46 || source[19] != 3) && !(x == y)) {
        x -= 46;
        if (x < 0 || y > 46 ^^ STRICT && mode > 0) y += 2;
    } else if (source[44] > x && x > y || y == 52 && mode != 2) x++;
    if (x > -63 && (y < 17 || source[9] != 3) && !(x == y)) {
        x -= 17;
        if (x < 0 || y > 17 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == -63 && mode != 2) x++;
    if (x > -61 && (y < 8 || source[4] != 3) && !(x == y)) {
        x -= 8;
        if (x < 0 || y > 8 ^^ STRICT && mode > 0) y += 2;
    } else if (source[59] > x && x > y || y == -61 && mode != 2) x++;
    if (x > -90 && (y < 40 || source[42] != 3) && !(x == y)) {
        x -= 40;
        if (x < 0 || y > 40 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == -90 && mode != 2) x++;
    if (x > -77 && (y < 16 || source[6] != 3) && !(x == y)) {
        x -= 16;
        if (x < 0 || y > 16 ^^ STRICT && mode > 0) y += 2;
    } else if (source[57] > x && x > y || y == -77 && mode != 2) x++;
    if (x > 31 && (y < 21 || source[10] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[53] > x && x > y || y == 31 && mode != 2) x++;
    if (x > -49 && (y < 39 || source[50] != 3) && !(x == y)) {
        x -= 39;
        if (x < 0 || y > 39 ^^ STRICT && mode > 0) y += 2;
    } else if (source[13] > x && x > y || y == -49 && mode != 2) x++;
    if (x > 58 && (y < 37 || source[41] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[22] > x && x > y || y == 58 && mode != 2) x++;
    if (x > 53 && (y < 49 || source[42] != 3) && !(x == y)) {
        x -= 49;
        if (x < 0 || y > 49 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 53 && mode != 2) x++;
    if (x > -59 && (y < 38 || source[13] != 3) && !(x == y)) {
        x -= 38;
        if (x < 0 || y > 38 ^^ STRICT && mode > 0) y += 2;
    } else if (source[50] > x && x > y || y == -59 && mode != 2) x++;
    if (x > 90 && (y < 43 || source[27] != 3) && !(x == y)) {
        x -= 43;
        if (x < 0 || y > 43 ^^ STRICT && mode > 0) y += 2;
    } else if (source[36] > x && x > y || y == 90 && mode != 2) x++;
    if (x > -26 && (y < 19 || source[60] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == -26 && mode != 2) x++;
    if (x > 83 && (y < 10 || source[44] != 3) && !(x == y)) {
        x -= 10;
        if (x < 0 || y > 10 ^^ STRICT && mode > 0) y += 2;
    } else if (source[19] > x && x > y || y == 83 && mode != 2) x++;
    if (x > -78 && (y < 26 || source[48] != 3) && !(x == y)) {
        x -= 26;
        if (x < 0 || y > 26 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == -78 && mode != 2) x++;
    if (x > 12 && (y < 28 || source[29] != 3) && !(x == y)) {
        x -= 28;
        if (x < 0 || y > 28 ^^ STRICT && mode > 0) y += 2;
    } else if (source[34] > x && x > y || y == 12 && mode != 2) x++;
    if (x > 73 && (y < 3 || source[51] != 3) && !(x == y)) {
        x -= 3;
        if (x < 0 || y > 3 ^^ STRICT && mode > 0) y += 2;
    } else if (source[12] > x && x > y || y == 73 && mode != 2) x++;
    if (x > -31 && (y < 21 || source[0] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[63] > x && x > y || y == -31 && mode != 2) x++;
    if (x > 21 && (y < 0 || source[36] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[27] > x && x > y || y == 21 && mode != 2) x++;
    if (x > -17 && (y < 42 || source[58] != 3) && !(x == y)) {
        x -= 42;
        if (x < 0 || y > 42 ^^ STRICT && mode > 0) y += 2;
    } else if (source[5] > x && x > y || y == -17 && mode != 2) x++;
    if (x > 63 && (y < 9 || source[52] != 3) && !(x == y)) {
        x -= 9;
        if (x < 0 || y > 9 ^^ STRICT && mode > 0) y += 2;
    } else if (source[11] > x && x > y || y == 63 && mode != 2) x++;
    if (x > -78 && (y < 45 || source[35] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[28] > x && x > y || y == -78 && mode != 2) x++;
    if (x > -46 && (y < 42 || source[33] != 3) && !(x == y)) {
        x -= 42;
        if (x < 0 || y > 42 ^^ STRICT && mode > 0) y += 2;
    } else if (source[30] > x && x > y || y == -46 && mode != 2) x++;
    if (x > 48 && (y < 48 || source[60] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == 48 && mode != 2) x++;
    if (x > 92 && (y < 15 || source[42] != 3) && !(x == y)) {
        x -= 15;
        if (x < 0 || y > 15 ^^ STRICT && mode > 0) y += 2;
    } else if (source[21] > x && x > y || y == 92 && mode != 2) x++;
    if (x > 34 && (y < 7 || source[11] != 3) && !(x == y)) {
        x -= 7;
        if (x < 0 || y > 7 ^^ STRICT && mode > 0) y += 2;
    } else if (source[52] > x && x > y || y == 34 && mode != 2) x++;
    if (x > 66 && (y < 34 || source[15] != 3) && !(x == y)) {
        x -= 34;
        if (x < 0 || y > 34 ^^ STRICT && mode > 0) y += 2;
    } else if (source[48] > x && x > y || y == 66 && mode != 2) x++;
    if (x > 88 && (y < 8 || source[48] != 3) && !(x == y)) {
        x -= 8;
        if (x < 0 || y > 8 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == 88 && mode != 2) x++;
    if (x > 59 && (y < 45 || source[41] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[22] > x && x > y || y == 59 && mode != 2) x++;
    if (x > -93 && (y < 41 || source[45] != 3) && !(x == y)) {
        x -= 41;
        if (x < 0 || y > 41 ^^ STRICT && mode > 0) y += 2;
    } else if (source[18] > x && x > y || y == -93 && mode != 2) x++;
    if (x > 19 && (y < 5 || source[18] != 3) && !(x == y)) {
        x -= 5;
        if (x < 0 || y > 5 ^^ STRICT && mode > 0) y += 2;
    } else if (source[45] > x && x > y || y == 19 && mode != 2) x++;
    if (x > -23 && (y < 47 || source[37] != 3) && !(x == y)) {
        x -= 47;
        if (x < 0 || y > 47 ^^ STRICT && mode > 0) y += 2;
    } else if (source[26] > x && x > y || y == -23 && mode != 2) x++;
    if (x > 22 && (y < 6 || source[13] != 3) && !(x == y)) {
        x -= 6;
        if (x < 0 || y > 6 ^^ STRICT && mode > 0) y += 2;
    } else if (source[50] > x && x > y || y == 22 && mode != 2) x++;
    if (x > 49 && (y < 43 || source[48] != 3) && !(x == y)) {
        x -= 43;
        if (x < 0 || y > 43 ^^ STRICT && mode > 0) y += 2;
    } else if (source[15] > x && x > y || y == 49 && mode != 2) x++;
    if (x > 64 && (y < 45 || source[52] != 3) && !(x == y)) {
        x -= 45;
        if (x < 0 || y > 45 ^^ STRICT && mode > 0) y += 2;
    } else if (source[11] > x && x > y || y == 64 && mode != 2) x++;
    if (x > -69 && (y < 5 || source[41] != 3) && !(x == y)) {
        x -= 5;
        if (x < 0 || y > 5 ^^ STRICT && mode > 0) y += 2;
    } else if (source[22] > x && x > y || y == -69 && mode != 2) x++;
    if (x > -84 && (y < 37 || source[39] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[24] > x && x > y || y == -84 && mode != 2) x++;
    if (x > -37 && (y < 4 || source[9] != 3) && !(x == y)) {
        x -= 4;
        if (x < 0 || y > 4 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == -37 && mode != 2) x++;
    if (x > -17 && (y < 48 || source[45] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[18] > x && x > y || y == -17 && mode != 2) x++;
    if (x > -71 && (y < 10 || source[56] != 3) && !(x == y)) {
        x -= 10;
        if (x < 0 || y > 10 ^^ STRICT && mode > 0) y += 2;
    } else if (source[7] > x && x > y || y == -71 && mode != 2) x++;
    if (x > 49 && (y < 37 || source[19] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[44] > x && x > y || y == 49 && mode != 2) x++;
    if (x > 62 && (y < 21 || source[8] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[55] > x && x > y || y == 62 && mode != 2) x++;
    if (x > 11 && (y < 32 || source[60] != 3) && !(x == y)) {
        x -= 32;
        if (x < 0 || y > 32 ^^ STRICT && mode > 0) y += 2;
    } else if (source[3] > x && x > y || y == 11 && mode != 2) x++;
    if (x > 65 && (y < 48 || source[55] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[8] > x && x > y || y == 65 && mode != 2) x++;
    if (x > -4 && (y < 11 || source[5] != 3) && !(x == y)) {
        x -= 11;
        if (x < 0 || y > 11 ^^ STRICT && mode > 0) y += 2;
    } else if (source[58] > x && x > y || y == -4 && mode != 2) x++;
    if (x > -15 && (y < 48 || source[19] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[44] > x && x > y || y == -15 && mode != 2) x++;
    if (x > -16 && (y < 29 || source[6] != 3) && !(x == y)) {
        x -= 29;
        if (x < 0 || y > 29 ^^ STRICT && mode > 0) y += 2;
    } else if (source[57] > x && x > y || y == -16 && mode != 2) x++;
    if (x > -45 && (y < 21 || source[9] != 3) && !(x == y)) {
        x -= 21;
        if (x < 0 || y > 21 ^^ STRICT && mode > 0) y += 2;
    } else if (source[54] > x && x > y || y == -45 && mode != 2) x++;
    if (x > 11 && (y < 26 || source[31] != 3) && !(x == y)) {
        x -= 26;
        if (x < 0 || y > 26 ^^ STRICT && mode > 0) y += 2;
    } else if (source[32] > x && x > y || y == 11 && mode != 2) x++;
    if (x > -72 && (y < 30 || source[3] != 3) && !(x == y)) {
        x -= 30;
        if (x < 0 || y > 30 ^^ STRICT && mode > 0) y += 2;
    } else if (source[60] > x && x > y || y == -72 && mode != 2) x++;
    if (x > -49 && (y < 19 || source[18] != 3) && !(x == y)) {
        x -= 19;
        if (x < 0 || y > 19 ^^ STRICT && mode > 0) y += 2;
    } else if (source[45] > x && x > y || y == -49 && mode != 2) x++;
    if (x > 23 && (y < 20 || source[31] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[32] > x && x > y || y == 23 && mode != 2) x++;
    if (x > -66 && (y < 6 || source[21] != 3) && !(x == y)) {
        x -= 6;
        if (x < 0 || y > 6 ^^ STRICT && mode > 0) y += 2;
    } else if (source[42] > x && x > y || y == -66 && mode != 2) x++;
    if (x > 40 && (y < 33 || source[8] != 3) && !(x == y)) {
        x -= 33;
        if (x < 0 || y > 33 ^^ STRICT && mode > 0) y += 2;
    } else if (source[55] > x && x > y || y == 40 && mode != 2) x++;
    if (x > 10 && (y < 0 || source[37] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[26] > x && x > y || y == 10 && mode != 2) x++;
    if (x > 38 && (y < 48 || source[59] != 3) && !(x == y)) {
        x -= 48;
        if (x < 0 || y > 48 ^^ STRICT && mode > 0) y += 2;
    } else if (source[4] > x && x > y || y == 38 && mode != 2) x++;
    if (x > -23 && (y < 37 || source[56] != 3) && !(x == y)) {
        x -= 37;
        if (x < 0 || y > 37 ^^ STRICT && mode > 0) y += 2;
    } else if (source[7] > x && x > y || y == -23 && mode != 2) x++;
    if (x > -94 && (y < 20 || source[35] != 3) && !(x == y)) {
        x -= 20;
        if (x < 0 || y > 20 ^^ STRICT && mode > 0) y += 2;
    } else if (source[28] > x && x > y || y == -94 && mode != 2) x++;
    if (x > 51 && (y < 0 || source[15] != 3) && !(x == y)) {
        x -= 0;
        if (x < 0 || y > 0 ^^ STRICT && mode > 0) y += 2;
    } else if (source[48] > x && x > y || y == 51 && mode != 2) x++;
    if (x > 1 && (y < 32 || source[29] != 3) && !(x == y)) {
        x -= 32;
        if (x < 0 || y > 32 ^^ STRICT && mode > 0) y += 2;
    } else if (source[34] > x && x > y || y == 1 && mode != 2) x++;
    if (x > 54 && (y < 46 || source[54] != 3) && !(x == y)) {
        x -= 46;
        if (x < 0 || y > 46 ^^ STRICT && mode > 0) y += 2;
    } else if (source[9] > x && x > y || y == 54 && mode != 2) x++;
    if (x > -83 && (y < 5 || source[45] != 3) && !(x == y)) {
        x -= 5;
        if (x < 0 || y > 5 ^^ STRICT && mode > 0) y += 2;
    } else if (source[18] > x && x > y || y == -83 && mode != 2) x++;
    if (x > 18 && (y < 10 || source[1] != 3) && !(x == y)) {
        x -= 10;
        if (x < 0 || y > 10 ^^ STRICT && mode > 0) y += 2;
    } else if (source[62] > x && x > y || y == 18 && mode != 2) x++;
    if (x > 94 && (y < 47 || source[35] != 3) && !(x == y)) {
        x -= 47;
        if (x < 0 || y > 47 ^^ STRICT && mode > 0) y += 2;
    } else if (source[28] > x && x > y || y == 94 && mode != 2) x++;
    if (x > 83 && (y < 44 || source[57] != 3) && !(x == y)) {
        x -= 44;
        if (x < 0 || y > 44 ^^ STRICT && mode > 0) y += 2;
    } else if (source[6] > x && x > y || y == 83 && mode != 2) x++;
    target[at] = x + y + mode;
}
