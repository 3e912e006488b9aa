#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define LIMIT 4
#define IN_RANGE(x) ((x) >= 0 && (x) < LIMIT)
#define GUARD(cond) if (!(cond)) return
#define TWICE(e) v[1] = int(e); v[2] = int(e)
#define JOIN(a, b) a##b
#define EITHER v[3] > 0 || v[4] > 0
void main() {
    GUARD(v[0] > 1 && v[0] < 9);
    if (IN_RANGE(v[5])) v[6] = LIMIT;
    TWICE(v[7] > 0 && v[8] > 0);
    int JOIN(loc, al) = 3;
    if (EITHER && JOIN(lo, cal) > 2)
        v[9] = local;
}
// decision: D1 if "!(cond)" conditions=2 via=GUARD
// decision: D2 if "(x) >= 0 && (x) < LIMIT" conditions=2 via=IN_RANGE
// decision: D3 argument "v[7] > 0 && v[8] > 0" conditions=2 via=TWICE
// decision: D4 argument "v[7] > 0 && v[8] > 0" conditions=2 via=TWICE
// decision: D5 if "EITHER && JOIN(lo, cal) > 2" conditions=3
