#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool f(bool x) { return x; }
void main() {
    bool a = v[0] > 0;
    bool b = v[1] > 0;
    if (a && (b ? v[2] > 0 : v[3] > 0 && a) && f(a || b)) v[4] = 1;
    if ((a && b) == (a || b)) v[5] = 1;
    v[6] = v[a && b ? 7 : 8] + (!b ? 1 : 2);
    if (!(!a)) v[9] = 1;
}
// decision: D1 return "x" conditions=1
// decision: D2 initialiser "v[0] > 0" conditions=1
// decision: D3 initialiser "v[1] > 0" conditions=1
// decision: D4 if "a && (b ? v[2] > 0 : v[3] > 0 && a) && f(a || b)" conditions=3
// decision: D5 ternary "b" conditions=1
// decision: D6 expression "v[2] > 0" conditions=1
// decision: D7 expression "v[3] > 0 && a" conditions=2
// decision: D8 argument "a || b" conditions=2
// decision: D9 if "(a && b) == (a || b)" conditions=1
// decision: D10 expression "a && b" conditions=2
// decision: D11 expression "a || b" conditions=2
// decision: D12 ternary "a && b" conditions=2
// decision: D13 ternary "!b" conditions=1
// decision: D14 if "!(!a)" conditions=1
