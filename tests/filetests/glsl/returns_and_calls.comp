#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool leaf(int x, bool strict) { if (x < 0) return false; return strict ? x > 3 : x > 1; }
bool both(bool a, bool b) { return a && b; }
int clamp0(int x) { return x < 0 ? 0 : x; }
bool nested(int x) { return both(leaf(x, x > 5), both(leaf(x + 1, true), x == 2 || leaf(clamp0(x), false))); }
int pick(int x) {
    if (nested(x)) return leaf(x, false) ? 1 : 2;
    else if (x > 9 && both(x > 10, v[0] > 0)) return int(nested(x + 1));
    return v[leaf(x, v[1] > 0) ? 2 : 3];
}
void main() { v[4] = pick(v[5]); if (!nested(v[6])) return; v[7] = pick(pick(v[8]) > 3 ? 1 : 2); }
// decision: D1 if "x < 0" conditions=1
// decision: D2 return "false" conditions=1 const=constant
// decision: D3 return "strict ? x > 3 : x > 1" conditions=1
// decision: D4 ternary "strict" conditions=1
// decision: D5 expression "x > 3" conditions=1
// decision: D6 expression "x > 1" conditions=1
// decision: D7 return "a && b" conditions=2
// decision: D8 ternary "x < 0" conditions=1
// decision: D9 return "both(leaf(x, x > 5), both(leaf(x + 1, true), x == 2 || leaf(clamp0(x), false)))" conditions=1
// decision: D10 argument "leaf(x, x > 5)" conditions=1
// decision: D11 argument "x > 5" conditions=1
// decision: D12 argument "both(leaf(x + 1, true), x == 2 || leaf(clamp0(x), false))" conditions=1
// decision: D13 argument "leaf(x + 1, true)" conditions=1
// decision: D14 argument "true" conditions=1 const=constant
// decision: D15 argument "x == 2 || leaf(clamp0(x), false)" conditions=2
// decision: D16 argument "false" conditions=1 const=constant
// decision: D17 if "nested(x)" conditions=1
// decision: D18 ternary "leaf(x, false)" conditions=1
// decision: D19 argument "false" conditions=1 const=constant
// decision: D20 if "x > 9 && both(x > 10, v[0] > 0)" conditions=2
// decision: D21 argument "x > 10" conditions=1
// decision: D22 argument "v[0] > 0" conditions=1
// decision: D23 argument "nested(x + 1)" conditions=1
// decision: D24 ternary "leaf(x, v[1] > 0)" conditions=1
// decision: D25 argument "v[1] > 0" conditions=1
// decision: D26 if "!nested(v[6])" conditions=1
// decision: D27 ternary "pick(v[8]) > 3" conditions=1
