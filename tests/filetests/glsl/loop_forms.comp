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
