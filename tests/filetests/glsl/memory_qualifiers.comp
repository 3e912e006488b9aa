#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) coherent volatile restrict buffer Data { int v[]; };
layout(std430, binding = 1) buffer Mixed { readonly int r[4]; writeonly int w[4]; coherent int c; volatile bool b; };
layout(std140, column_major, binding = 2) uniform U { layout(row_major) mat4 m; layout(offset = 64) vec3 t; bool on; } u;
shared int tile[4];
highp float twice(float x) { precise float y = x + x; return y; }
void main() {
    if (v[0] > 1 && b || u.on) w[0] = r[1];
    bool held = b, lit = u.on;
    c = held && lit ? int(twice(u.m[0][1])) : int(u.t.y);
}
// decision: D1 if "v[0] > 1 && b || u.on" conditions=3
// decision: D2 initialiser "b" conditions=1
// decision: D3 initialiser "u.on" conditions=1
// decision: D4 ternary "held && lit" conditions=2
