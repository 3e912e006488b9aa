#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool f() { return v[20] > 0; }
bool g() { return !f(); }
bool pass(bool x) { return x; }
void main() {
    bool a = f(), b = g(), c;
    if ((a && b) == (b || a)) v[0] = 1;
    if ((v[1] > 0) != (v[2] > 0)) v[3] = 1;
    if (a ^^ b ^^ f()) v[4] = 1;
    if (!!a && !(!b || !!f())) v[5] = 1;
    if ((c = f()) && g()) v[6] = 1;
    if (a = b) v[7] = 1;
    if ((a = b || f(), c)) v[8] = 1;
    c = a == b;
    c = a ? b : c;
    if (pass(a && b) || pass(pass(a || b))) v[9] = int(pass(c));
    if (bool(v[10]) && bool(1) || bool(a)) v[11] = 1;
    if (a && (b, c)) v[12] = 1;
    if (((((a)))) || (((b && ((c)))))) v[13] = 1;
    v[14] = int(a && b) | int(c) << int(a ^^ b);
    if (a == true && false != b) v[15] = 1;
    if (a || true) v[16] = 1;
}
// decision: D1 return "v[20] > 0" conditions=1
// decision: D2 return "!f()" conditions=1
// decision: D3 return "x" conditions=1
// decision: D4 initialiser "f()" conditions=1
// decision: D5 initialiser "g()" conditions=1
// decision: D6 if "(a && b) == (b || a)" conditions=1
// decision: D7 expression "a && b" conditions=2
// decision: D8 expression "b || a" conditions=2
// decision: D9 if "(v[1] > 0) != (v[2] > 0)" conditions=1
// decision: D10 expression "v[1] > 0" conditions=1
// decision: D11 expression "v[2] > 0" conditions=1
// decision: D12 if "a ^^ b ^^ f()" conditions=3
// decision: D13 if "!!a && !(!b || !!f())" conditions=3
// decision: D14 if "(c = f()) && g()" conditions=2
// decision: D15 assignment "f()" conditions=1
// decision: D16 if "a = b" conditions=1
// decision: D17 assignment "b" conditions=1
// decision: D18 assignment "b || f()" conditions=2
// decision: D19 if "c" conditions=1
// decision: D20 assignment "a == b" conditions=1
// decision: D21 expression "a" conditions=1
// decision: D22 expression "b" conditions=1
// decision: D23 assignment "a ? b : c" conditions=1
// decision: D24 ternary "a" conditions=1
// decision: D25 expression "b" conditions=1
// decision: D26 expression "c" conditions=1
// decision: D27 if "pass(a && b) || pass(pass(a || b))" conditions=2
// decision: D28 argument "a && b" conditions=2
// decision: D29 argument "pass(a || b)" conditions=1
// decision: D30 argument "a || b" conditions=2
// decision: D31 argument "pass(c)" conditions=1
// decision: D32 argument "c" conditions=1
// decision: D33 if "bool(v[10]) && bool(1) || bool(a)" conditions=3
// decision: D34 argument "a" conditions=1
// decision: D35 if "a && (b, c)" conditions=2
// decision: D36 expression "b" conditions=1
// decision: D37 if "((((a)))) || (((b && ((c)))))" conditions=3
// decision: D38 argument "a && b" conditions=2
// decision: D39 argument "c" conditions=1
// decision: D40 argument "a ^^ b" conditions=2
// decision: D41 if "a == true && false != b" conditions=2
// decision: D42 expression "a" conditions=1
// decision: D43 expression "b" conditions=1
// decision: D44 if "a || true" conditions=2
