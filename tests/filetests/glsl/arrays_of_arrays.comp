#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
layout(std430, binding = 1) buffer Rows { int count; int rows[][4]; } tables[2];
const int LIMITS[2][3] = int[][](int[](1, 2, 3), int[3](4, 5, 6));
int[2][3] make(int x) { return int[2][3](int[](x, x > 0 ? 1 : 2, 3), int[](4, 5, 6)); }
int first(int a[3]) { return a[0] > a[1] ? a[0] : a[1]; }
void main() {
    int grid[2][3] = make(v[0]), flat_[] = int[](1, 2, v[1] > 2 ? 3 : 4);
    int[3] row = grid[1];
    float f[4], g[2][2];
    for (int i = 0; i < grid.length(); ++i)
        for (int j = 0; j < grid[i].length(); j++) if (grid[i][j] > LIMITS[i][j]) v[i * 3 + j] = 1;
    if (tables[1].rows[v[2]][3] == tables[0].rows.length() && first(int[3](1, 2, 3)) < flat_.length()) v[3] = row[2];
    if (int[](1, 2, 3)[v[4]] > 1) v[5] = int[2](6, 7)[v[6] > 0 ? 1 : 0];
    bool flags[2] = bool[](v[7] > 1, v[8] > 1 && v[9] > 1);
    f[0] = 1.0; g[1][0] = f[0];
    if (flags[1]) v[10] = int(g[1][0]);
    if (f == float[4](1.0, 2.0, 3.0, 4.0)) v[11] = 1;
}
// decision: D1 ternary "x > 0" conditions=1
// decision: D2 ternary "a[0] > a[1]" conditions=1
// decision: D3 ternary "v[1] > 2" conditions=1
// decision: D4 for "i < grid.length()" conditions=1
// decision: D5 for "j < grid[i].length()" conditions=1
// decision: D6 if "grid[i][j] > LIMITS[i][j]" conditions=1
// decision: D7 if "tables[1].rows[v[2]][3] == tables[0].rows.length() && first(int[3](1, 2, 3)) < flat_.length()" conditions=2
// decision: D8 if "int[](1, 2, 3)[v[4]] > 1" conditions=1
// decision: D9 ternary "v[6] > 0" conditions=1
// decision: D10 argument "v[7] > 1" conditions=1
// decision: D11 argument "v[8] > 1 && v[9] > 1" conditions=2
// decision: D12 if "flags[1]" conditions=1
// decision: D13 if "f == float[4](1.0, 2.0, 3.0, 4.0)" conditions=1
