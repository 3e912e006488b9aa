#version 460
#extension GL_EXT_null_initializer : enable
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
struct Range { int low, high; bool closed; };
struct Pair { Range ranges[2]; vec2 weight; };
const Range UNIT = { 0, 1, true };
Range ranges[2] = { { 1, 2, false }, { 3, 4, 2 > 1 }, };
void main() {
    Range r = { v[0], v[1] > 2 ? 3 : 4, v[2] > 5 && v[3] > 6 };
    Pair p = { { r, { 1, 2, v[4] == 1 } }, { 0.5, v[5] > 0 ? 1.0 : 2.0 } };
    bool table[2][2] = { { true, v[6] > 1 }, { v[7] > 1 || v[8] > 1, false } };
    int zeros[3] = {};
    vec4 colour = { 1.0, 2.0, 3.0, float(v[9] > 2) };
    if (p.ranges[1].closed && table[1][0] || UNIT.closed) v[10] = r.high + zeros[1] + int(colour.w) + ranges[0].low;
}
// decision: D1 initialiser "true" conditions=1 const=constant unmarked
// decision: D2 initialiser "false" conditions=1 const=constant
// decision: D3 initialiser "2 > 1" conditions=1 const=constant
// decision: D4 ternary "v[1] > 2" conditions=1
// decision: D5 initialiser "v[2] > 5 && v[3] > 6" conditions=2
// decision: D6 initialiser "v[4] == 1" conditions=1
// decision: D7 ternary "v[5] > 0" conditions=1
// decision: D8 initialiser "true" conditions=1 const=constant
// decision: D9 initialiser "v[6] > 1" conditions=1
// decision: D10 initialiser "v[7] > 1 || v[8] > 1" conditions=2
// decision: D11 initialiser "false" conditions=1 const=constant
// decision: D12 argument "v[9] > 2" conditions=1
// decision: D13 if "p.ranges[1].closed && table[1][0] || UNIT.closed" conditions=3
