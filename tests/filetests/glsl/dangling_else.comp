#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    if (v[0] > 0) if (v[1] > 0) v[2] = 1; else v[2] = 2;
    if (v[3] > 0) ; else if (v[4] > 0) { } else if (v[5] > 0 ^^ v[6] > 0) v[7] = 1;
    int a, b = 2, c;
    { int inner; { v[8] = b; } }
    a = (v[9] = 3, v[10] > 2 ? 4 : 5), c = a < 3 ? b : a > 4 ? 1 : 2;
    v[11] = c;
}
// decision: D1 if "v[0] > 0" conditions=1
// decision: D2 if "v[1] > 0" conditions=1
// decision: D3 if "v[3] > 0" conditions=1
// decision: D4 if "v[4] > 0" conditions=1
// decision: D5 if "v[5] > 0 ^^ v[6] > 0" conditions=2
// decision: D6 ternary "v[10] > 2" conditions=1
// decision: D7 ternary "a < 3" conditions=1
// decision: D8 ternary "a > 4" conditions=1
// statements: 12
