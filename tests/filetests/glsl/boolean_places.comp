#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool inside(int a, bool strict) {
    return strict ? a > 0 : a >= 0;
}
int pick(const bool first, in int a) { return first ? a : -a; }
void touch(inout bool flag) { flag = !flag; }
void main() {
    bool a = v[0] > 1;
    bool b = a;
    b = !a;
    bool c = inside(v[1], a && b);
    c = a || b ^^ c;
    touch(c);
    uint n = uint(c);
    v[int(a || b)] = pick(b, 3) + int(v[2] == v[3]);
    bvec2 both = bvec2(a, v[4] < 2);
    bool either = both.x;
    v[5] = (a == b) ? 1 : 0;
    if ((c = a && b)) { v[6] = int(n); }
}
// decision: D1 return "strict ? a > 0 : a >= 0" conditions=1
// decision: D2 ternary "strict" conditions=1
// decision: D3 expression "a > 0" conditions=1
// decision: D4 expression "a >= 0" conditions=1
// decision: D5 ternary "first" conditions=1
// decision: D6 assignment "!flag" conditions=1
// decision: D7 initialiser "v[0] > 1" conditions=1
// decision: D8 initialiser "a" conditions=1
// decision: D9 assignment "!a" conditions=1
// decision: D10 initialiser "inside(v[1], a && b)" conditions=1
// decision: D11 argument "a && b" conditions=2
// decision: D12 assignment "a || b ^^ c" conditions=3
// decision: D13 argument "c" conditions=1
// decision: D14 argument "a || b" conditions=2
// decision: D15 argument "b" conditions=1
// decision: D16 argument "v[2] == v[3]" conditions=1
// decision: D17 argument "a" conditions=1
// decision: D18 argument "v[4] < 2" conditions=1
// decision: D19 initialiser "both.x" conditions=1
// decision: D20 ternary "a == b" conditions=1
// decision: D21 expression "a" conditions=1
// decision: D22 expression "b" conditions=1
// decision: D23 if "c = a && b" conditions=1
// decision: D24 assignment "a && b" conditions=2
