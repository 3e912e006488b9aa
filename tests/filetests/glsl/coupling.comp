#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
int calls = 0;
bool count() { calls++; return calls > 3; }
void main() {
    bool a = v[0] > 0, b = v[1] > 0;
    if (a && b || !a && !b) v[2] = 1;
    if (a || v[3]++ > 1 || a) v[4] = 1;
    if (count() && count()) v[5] = 1;
    if (min(v[6], 3) > 1 && b || min(v[6],3) > 1) v[7] = 1;
    if (atomicAdd(v[8], 1) == 0 || atomicAdd(v[8], 1) == 0) v[9] = 1;
}
// decision: D1 return "calls > 3" conditions=1
// decision: D2 initialiser "v[0] > 0" conditions=1
// decision: D3 initialiser "v[1] > 0" conditions=1
// decision: D4 if "a && b || !a && !b" conditions=4 couple=0,1,0,1
// decision: D5 if "a || v[3]++ > 1 || a" conditions=3
// decision: D6 if "count() && count()" conditions=2
// decision: D7 if "min(v[6], 3) > 1 && b || min(v[6],3) > 1" conditions=3 couple=0,1,0
// decision: D8 if "atomicAdd(v[8], 1) == 0 || atomicAdd(v[8], 1) == 0" conditions=2
