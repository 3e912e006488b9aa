#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define BOTH(c) (c) && (c)
#define TWO(c) if (c) v[0]++; if (c) v[1]++
#define MINIMUM(a, b) ((a) < (b) ? (a) : (b))
#define IGNORED(x) 0
#define INNER(c) ((c) ? 1 : 0)
#define OUTER(c) INNER(c) + INNER(!(c))
void main() {
    TWO(v[2] > 0 && v[3] > 0);
    if (BOTH(v[4] > 0)) v[5] = 1;
    v[6] = MINIMUM(v[7] > 0 ? 1 : 2, v[8] > 0 ? 3 : 4);
    v[9] = IGNORED(v[10] > 0 ? 1 : 2);
    v[11] = OUTER(v[12] > 0 || v[13] > 0);
}
// decision: D1 if "v[2] > 0 && v[3] > 0" conditions=2 via=TWO
// decision: D2 if "v[2] > 0 && v[3] > 0" conditions=2 via=TWO
// decision: D3 if "(c) && (c)" conditions=2 couple=0,0 via=BOTH
// decision: D4 ternary "(a) < (b)" conditions=1 via=MINIMUM
// decision: D5 ternary "v[7] > 0" conditions=1 via=MINIMUM
// decision: D6 ternary "v[8] > 0" conditions=1 via=MINIMUM
// decision: D7 ternary "v[7] > 0" conditions=1 via=MINIMUM
// decision: D8 ternary "v[8] > 0" conditions=1 via=MINIMUM
// decision: D9 ternary "v[12] > 0 || v[13] > 0" conditions=2 via=OUTER,INNER
// decision: D10 ternary "!(c)" conditions=2 via=OUTER,INNER
