#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
// A decision in a macro of a macro, once and twice; statements in macros of macros.
#define ABOVE(x, low) ((x) > (low) && v[1] != 0)
#define INSIDE(x) (ABOVE(x, 2) || (x) == -1)
#define WHEN(cond, to) if (cond) v[to] = 1
#define BOTH(a, b) WHEN((a) && (b), 2); WHEN((a) || (b), 3)
#define CHOSEN(cond) ((cond) ? 4 : 5)
#define STORED(cond) v[6] = CHOSEN(ABOVE(v[7], 1)) + CHOSEN(cond)
void main() {
    if (INSIDE(v[0])) v[8] = 1;
    BOTH(v[4] > 0, v[5] > 0);
    STORED(v[9] > 0 || v[10] > 0);
    WHEN(INSIDE(v[11]) && !ABOVE(v[12], 3), 13);
}
// decision: D1 if "ABOVE(x, 2) || (x) == -1" conditions=3 via=INSIDE
// decision: D2 if "(a) && (b)" conditions=2 via=BOTH,WHEN
// decision: D3 if "(a) || (b)" conditions=2 via=BOTH,WHEN
// decision: D4 ternary "(x) > (low) && v[1] != 0" conditions=2 via=STORED,CHOSEN,ABOVE
// decision: D5 ternary "v[9] > 0 || v[10] > 0" conditions=2 via=STORED,CHOSEN
// decision: D6 if "INSIDE(v[11]) && !ABOVE(v[12], 3)" conditions=5 couple=0,1,2,3,1 via=WHEN
