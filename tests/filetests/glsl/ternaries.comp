#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
struct Item { int key; int value[2]; };
void swap(inout int a, inout int b) { int t = a; a = b; b = t; }
void write(out int a, bool go) { a = go ? 1 : 2; }
void main() {
    v[v[0] > 1 ? 2 : 3] = 1;
    v[v[4] > 5 && v[6] > 7 ? 8 : 9] += v[10] > 0 ? 1 : 2;
    Item items[2];
    items[0].key = 0; items[1].key = 1; items[0].value[0] = 2; items[0].value[1] = 3; items[1].value[0] = 4; items[1].value[1] = 5;
    items[v[11] > 0 ? 1 : 0].value[v[12] > 0 || v[13] > 0 ? 1 : 0]++;
    --v[v[14] < 3 ? 15 : 16];
    v[17] = v[18] > 0 ? v[19] > 0 ? 1 : 2 : v[20] > 0 ? 3 : 4;
    v[21] = (v[22] > 0 ? v[23] > 0 : v[24] > 0) ? 5 : 6;
    swap(v[v[25] > 0 ? 26 : 27], v[v[28] > 0 && v[29] > 0 ? 30 : 31]);
    write(v[v[32] > 0 ? 33 : 34], v[35] > 0 || v[36] > 0);
    vec2 p = v[37] > 0 ? vec2(1.0, v[38] > 0 ? 2.0 : 3.0) : vec2(0.0);
    p[v[39] > 0 ? 1 : 0] = 4.0;
    v[40] = int((v[41] > 0 ? p : p.yx).x);
    v[42] = -(v[43] > 0 ? 1 : 2) * (v[44] > 0 ? 3 : 4);
}
// decision: D1 ternary "go" conditions=1
// decision: D2 ternary "v[0] > 1" conditions=1
// decision: D3 ternary "v[4] > 5 && v[6] > 7" conditions=2
// decision: D4 ternary "v[10] > 0" conditions=1
// decision: D5 ternary "v[11] > 0" conditions=1
// decision: D6 ternary "v[12] > 0 || v[13] > 0" conditions=2
// decision: D7 ternary "v[14] < 3" conditions=1
// decision: D8 ternary "v[18] > 0" conditions=1
// decision: D9 ternary "v[19] > 0" conditions=1
// decision: D10 ternary "v[20] > 0" conditions=1
// decision: D11 ternary "v[22] > 0 ? v[23] > 0 : v[24] > 0" conditions=1
// decision: D12 ternary "v[22] > 0" conditions=1
// decision: D13 expression "v[23] > 0" conditions=1
// decision: D14 expression "v[24] > 0" conditions=1
// decision: D15 ternary "v[25] > 0" conditions=1
// decision: D16 ternary "v[28] > 0 && v[29] > 0" conditions=2
// decision: D17 ternary "v[32] > 0" conditions=1
// decision: D18 argument "v[35] > 0 || v[36] > 0" conditions=2
// decision: D19 ternary "v[37] > 0" conditions=1
// decision: D20 ternary "v[38] > 0" conditions=1
// decision: D21 ternary "v[39] > 0" conditions=1
// decision: D22 ternary "v[41] > 0" conditions=1
// decision: D23 ternary "v[43] > 0" conditions=1
// decision: D24 ternary "v[44] > 0" conditions=1
