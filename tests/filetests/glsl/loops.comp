#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    for (int i = 0, j = 9; i < 4 && j > 0; ++i, j--) {
        if (v[i] == 7) continue;
        v[i] += j;
    }
    for (;;) { if (v[0]++ > 3) break; }
    int k = 0;
    do { k++; } while (k < 5 || v[k] == 2);
    while (bool more = k > 0 && v[1] != 0) { k -= more ? 1 : 2; }
    for (int i = 0; v[2] = i, i < 2; i++) v[3] = i;
}
// decision: D1 for "i < 4 && j > 0" conditions=2
// decision: D2 if "v[i] == 7" conditions=1
// decision: D3 if "v[0]++ > 3" conditions=1
// decision: D4 do-while "k < 5 || v[k] == 2" conditions=2
// decision: D5 while "k > 0 && v[1] != 0" conditions=2
// decision: D6 ternary "more" conditions=1
// decision: D7 for "i < 2" conditions=1
// exits: main 1
// statements: 14
