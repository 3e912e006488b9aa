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
