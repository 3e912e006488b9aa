#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define FIRST 1
const int SECOND = 1 + FIRST;
const int THIRD = 2 > 1 ? 3 : 4;
int kind(int x) {
    switch (x > 5 ? 1 : x) {
        case FIRST: return 10;
        case SECOND: if (x == 2 && v[9] > 0) return 20;
        case THIRD: break;
        case -4: case ~7: { if (v[8] > 0) break; return 30; }
        case (2 < 3 ? 8 : 9): return 40;
        default: for (;;) { if (v[7]-- < 0) break; continue; }
    }
    return 0;
}
void main() {
    switch (uint(v[1] > 0)) { case 0u: v[2] = 1; break; case 1u: switch (v[3]) { default: v[4] = 2; case 7: v[4] = 3; } }
    switch (kind(v[5])) { default: v[6] = 1; }
}
// decision: D1 ternary "2 > 1" conditions=1 const=constant unmarked
// decision: D2 ternary "x > 5" conditions=1
// decision: D3 if "x == 2 && v[9] > 0" conditions=2
// decision: D4 if "v[8] > 0" conditions=1
// decision: D5 ternary "2 < 3" conditions=1 const=constant unmarked
// decision: D6 if "v[7]-- < 0" conditions=1
// decision: D7 argument "v[1] > 0" conditions=1
// switch: W1 "x > 5 ? 1 : x" case FIRST:|case SECOND:|case THIRD:|case -4:|case ~7:|case (2 < 3 ? 8 : 9):|default:
// switch: W2 "uint(v[1] > 0)" case 0u:|case 1u:|no label matches
// switch: W3 "v[3]" default:|case 7:
// switch: W4 "kind(v[5])" default:
