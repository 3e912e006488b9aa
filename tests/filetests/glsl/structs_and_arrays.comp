#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 4) in;
struct Cell { bool on; int age; bool seen[2]; };
layout(scalar, binding = 0) buffer Data { int v[]; };
layout(binding = 1) uniform Limits { int top[4]; vec4 scale; } limits[2];
Cell make(bool on, int age) { return Cell(on, age, bool[2](on, age > 3)); }
Cell[2] pair(Cell c) { return Cell[2](c, c); }
void main() {
    Cell c = make(v[0] > 0, 3);
    Cell[2] cells = pair(c);
    Cell list[] = { c, make(false, 1) };
    cells[0].on = c.seen[1];
    bool flags[3] = bool[](true, c.on, v[1] < limits[1].top[2]);
    flags[0] = flags[1];
    if (flags.length() > 2 && cells[1].seen[0]) v[2] = list.length();
    float x[3] = float[3](1.0, 2., .5e1), y = x[1];
    v[3] = int(y);
}
// decision: D1 argument "on" conditions=1
// decision: D2 argument "on" conditions=1
// decision: D3 argument "age > 3" conditions=1
// decision: D4 argument "v[0] > 0" conditions=1
// decision: D5 argument "false" conditions=1 const=constant
// decision: D6 assignment "c.seen[1]" conditions=1
// decision: D7 argument "true" conditions=1 const=constant
// decision: D8 argument "c.on" conditions=1
// decision: D9 argument "v[1] < limits[1].top[2]" conditions=1
// decision: D10 assignment "flags[1]" conditions=1
// decision: D11 if "flags.length() > 2 && cells[1].seen[0]" conditions=2
