#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool started = false;
int scale = 3 > 2 ? 1 : 2;
const float table[] = float[](1.0, true ? 2.0 : 3.0);
void main() {
    if (started || scale > 1) v[0] = int(table[v[1]]);
}
// decision: D1 initialiser "false" conditions=1 const=constant
// decision: D2 ternary "3 > 2" conditions=1 const=constant
// decision: D3 ternary "true" conditions=1 const=constant unmarked
// decision: D4 if "started || scale > 1" conditions=2
