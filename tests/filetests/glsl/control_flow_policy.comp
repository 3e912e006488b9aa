#version 450
// policy: control-flow
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    bool a = v[0] > 1 && v[1] > 1;
    bool b = (a || v[2] == 0) ? v[3] > 0 : false;
    while (a && b) { a = v[4] < 3; break; }
    v[5] = int(!a);
}
// decision: D1 ternary "a || v[2] == 0" conditions=2
// decision: D2 while "a && b" conditions=2
