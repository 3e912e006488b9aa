// Every place in which the grammar lets a Boolean expression stand, one or a few per line.
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
layout(std430, binding = 1) buffer Floats { float x[]; };
struct Pair { bool left; bool right; };
struct Holder { Pair pair; float size; };
bool of_number(int n) { return n > 0; }
bool of_number(float n) { return n > 0.0; }
float same(float n) { return n; }
bool same(bool n) { return n; }
void number_or_flag(out int n) { n = 1; }
void number_or_flag(bool flag) { v[0] = int(flag); }
void turn(inout bool flag) { flag = !flag; }
bool arm_of_return(bool a) { return a ? v[1] > 1 : v[2] > 2; }
bool equality_of_return(bool a) { return a == (v[3] > 3); }
void arms(bool a, bool b) {
    bool r = a ? v[4] > 4 : v[5] > 5;
    r = a ? b : true;
    r = a ? (b ? v[6] > 6 : false) : !b;
    v[0] = int(a ? v[7] > 7 : b);
    v[a ? 1 : 2] = (a ? b : v[8] > 8) ? 1 : 2;
    if (a && (b ? v[9] > 9 : v[10] > 10)) v[0] = 1;
    if (a ? b : r) v[0] = 2;
    r = (a ? b : r).x;
    bvec2 two = a ? bvec2(v[11] > 11, b) : (b ? bvec2(true, a) : bvec2(false));
    float f = a ? float(v[12] > 12) : b ? 1.0 : 2.0;
    Pair pair = Pair(a ? b : v[13] > 13, (b));
    bool list[2] = bool[](a ? v[14] > 14 : b, v[15] == 15);
    bool braces[2] = { b ? a : v[16] > 16, false };
}
void equalities(bool a, bool b) {
    bool r = (v[20] > 20) == (v[21] > 21);
    r = a == b;
    r = a != b == (v[22] > 22);
    r = v[23] == v[24];
    r = true == a || a != false;
    r = (a == b) == (b == a);
    r = v[25] < 25 == v[26] < 26;
    v[0] = int(a == (b && v[27] > 27)) + int(!a == !b);
    r = isnan(x[0]) == isinf(x[1] * 2.0);
    r = any(greaterThan(vec2(x[2]), vec2(x[3]))) != bvec2(a, b).y;
    r = of_number(1) == of_number(x[4] + 1.0);
    r = same(a) == same(b);
    r = (r = a) != (b = r);
    r = bvec2(a) == bvec2(v[28] > 28, b);
    r = equal(ivec2(v[29], v[30]), ivec2(1)).x == equal(bvec2(a), bvec2(b))[0];
    while (a == r) { r = !r; }
    do { r = !r; } while (b != r);
    for (int i = 0; (i < 2) == a; i++, b == r) { }
    switch (a == b ? 1 : int(b != r)) { case 1: v[0] = 3; break; }
}
void elsewhere(bool a, bool b) {
    int i = int(v[40] > 40) * 3 + v[int(a)];
    x[int(v[41] > 41)] = float(b) * same(float(v[42] > 42));
    v[0] = (v[43] > 43, v[44] > 44 ? 1 : 2);
    v[43] > 43, a == b;
    of_number(1);
    of_number(v[45] > 45 ? 1 : 2), turn(a);
    a ? turn(a) : turn(b);
    a ? of_number(1) : (b = a);
    (b = v[46] > 46);
    bool r = (v[47]++, v[48] > 48);
    if (a && (v[47]++, b)) v[0] = 4;
    if (a || (v[47]++, a && b)) v[0] = 4;
    number_or_flag(v[0]);
    number_or_flag(v[49] > 49);
    turn(a);
    Holder holder = Holder(Pair(a, v[50] > 50), 1.0);
    r = holder.pair.left == holder.pair.right;
    r = not(bvec2(a, v[51] > 51)).y;
    r = mix(a, b, v[52] > 52);
    x[1] = mix(1.0, 2.0, isnan(x[0]));
    x[2] = isinf(same(x[0])) ? 1.0 : 2.0;
    a.x = v[53] > 53;
    bvec3 three = (v[54] > 54).xxx;
    v[1] = -int(!a);
    v[2] += int(a ^^ b), v[3] <<= uint(a == b);
    r = !(a == b);
    r = (((a)));
}
void main() {
    arms(v[60] > 60, true);
    equalities(v[61] == 61, arm_of_return(false));
    elsewhere(equality_of_return(v[62] > 62), v[63] > 63 == true);
}
