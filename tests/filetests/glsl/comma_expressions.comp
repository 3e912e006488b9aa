#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
int note(int x) { v[9] = x; return x; }
void main() {
    int a = (note(1), v[0] > 1 ? 2 : 3);
    bool b = (note(2), v[1] > 2 && v[2] > 3);
    if (note(3), b || a > 4) v[3] = 1;
    while (note(4), a-- > 0) v[4]++;
    for (int i = (note(5), 0); note(6), i < 2; v[5]++, i++, b = !b) ;
    v[(note(7), b) ? 6 : 7] = (a > 0, 3);
    (b && a > 1) ? note(8) : note(9);
    b ? v[10]++ : v[11]++, a = b ? 1 : 2;
    v[13] = ((note(10), v[12] > 0) && (note(11), b)) ? 1 : 0;
}
// decision: D1 ternary "v[0] > 1" conditions=1
// decision: D2 initialiser "v[1] > 2 && v[2] > 3" conditions=2
// decision: D3 if "b || a > 4" conditions=2
// decision: D4 while "a-- > 0" conditions=1
// decision: D5 for "i < 2" conditions=1
// decision: D6 assignment "!b" conditions=1
// decision: D7 ternary "b" conditions=1
// decision: D8 expression "a > 0" conditions=1
// decision: D9 ternary "b && a > 1" conditions=2
// decision: D10 ternary "b" conditions=1
// decision: D11 ternary "b" conditions=1
// decision: D12 ternary "(note(10), v[12] > 0) && (note(11), b)" conditions=2
