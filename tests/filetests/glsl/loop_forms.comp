#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool more(int i) { return i < v[0]; }
void main() {
    for (;;) { if (v[1]++ > 3) break; }
    for (; v[2] < 4; ) v[2]++;
    for (int i = 0; ; i++) { if (i > 2 && v[3] > 0) break; if (i > 9) break; }
    for (int i = 0; bool again = more(i); ++i) { v[4] = again ? i : 0; }
    while (bool live = v[5] > 0 || more(v[6])) { v[5] = live && v[5] > 2 ? v[5] - 1 : 0; v[6] = 99; }
    do { v[7]++; if (v[7] == 3) continue; if (v[7] > 8) break; } while (v[7] < 6 && more(v[8]));
    for (int i = 0, j = v[9] > 1 ? 2 : 3; i < j; i += v[10] > 0 ? 2 : 1, j -= j > 9 ? 1 : 0) v[11] = j;
    int n = 3;
    while (n-- > 0);
    do ; while (n++ < 2);
    for (bool go = v[12] > 0; go; go = v[13]-- > 1 && go) v[14]++;
    while (true) { if (v[15] > 0) return; v[15]++; }
}
// decision: D1 return "i < v[0]" conditions=1
// decision: D2 if "v[1]++ > 3" conditions=1
// decision: D3 for "v[2] < 4" conditions=1
// decision: D4 if "i > 2 && v[3] > 0" conditions=2
// decision: D5 if "i > 9" conditions=1
// decision: D6 for "more(i)" conditions=1
// decision: D7 ternary "again" conditions=1
// decision: D8 while "v[5] > 0 || more(v[6])" conditions=2
// decision: D9 ternary "live && v[5] > 2" conditions=2
// decision: D10 if "v[7] == 3" conditions=1
// decision: D11 if "v[7] > 8" conditions=1
// decision: D12 do-while "v[7] < 6 && more(v[8])" conditions=2
// decision: D13 ternary "v[9] > 1" conditions=1
// decision: D14 for "i < j" conditions=1
// decision: D15 ternary "v[10] > 0" conditions=1
// decision: D16 ternary "j > 9" conditions=1
// decision: D17 while "n-- > 0" conditions=1
// decision: D18 do-while "n++ < 2" conditions=1
// decision: D19 initialiser "v[12] > 0" conditions=1
// decision: D20 for "go" conditions=1
// decision: D21 assignment "v[13]-- > 1 && go" conditions=2
// decision: D22 while "true" conditions=1 const=constant
// decision: D23 if "v[15] > 0" conditions=1
