#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    int rows[4];
    const int n = rows.length() > 3 ? 2 : 1;
    int cells[n];
    cells[0] = 1;
    if (v[0] > 0) v[1] = cells[0];
}
// decision: D1 ternary "rows.length() > 3" conditions=1 unmarked
// decision: D2 if "v[0] > 0" conditions=1
