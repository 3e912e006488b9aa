#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define EITHER(a, b) ((a) || (b))
#define BOTH(a, b) (EITHER(a, b) && (a))
#define STORE(at, c) v[at] = int(BOTH(c, !(c)))
#define OUTER(c) STORE(1, c)
bool kept(bool x) { return BOTH(x, v[0] > 0); }
void main() {
    bool first = EITHER(BOTH(v[0] == 1, v[1] == 2), (!(v[2] == 3)));
    OUTER(v[3] > 4);
    if (kept(first) && (!(first))) v[5] = 1;
}
// decision: D1 return "EITHER(a, b) && (a)" conditions=3 couple=0,1,0 via=BOTH
// decision: D2 initialiser "(a) || (b)" conditions=4 couple=0,1,0,2 via=EITHER
// decision: D3 argument "EITHER(a, b) && (a)" conditions=3 couple=0,0,0 via=OUTER,STORE,BOTH
// decision: D4 if "kept(first) && (!(first))" conditions=2
// decision: D5 argument "first" conditions=1
