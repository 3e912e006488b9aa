#version 450
// Sparse matrix times vector with empty rows, duplicates and a diagonal test.
// groups: 1 1 1
// buffer: 0 uint 17 iota
// buffer: 1 uint 64 random 311 0 15
// buffer: 2 float 64 random 312 -4 4
// buffer: 3 float 16 random 313 -2 2
// buffer: 4 float 16 zero
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer Starts { uint start[]; };
layout(std430, binding = 1) readonly buffer Columns { uint column[]; };
layout(std430, binding = 2) readonly buffer Values { float value[]; };
layout(std430, binding = 3) readonly buffer X { float x[]; };
layout(std430, binding = 4) writeonly buffer Y { float y[]; };
void main() {
    uint row = gl_GlobalInvocationID.x, first = start[row] * 3u, last = row % 4u == 3u ? first : first + 3u;
    if (first == last) { y[row] = 0.0; return; }
    float sum = 0.0;
    bool diagonal = false;
    for (uint e = first; e < last; e++) {
        bool again = e > first && column[e] == column[e - 1u];
        if (again && value[e] != 0.0) continue;
        diagonal = diagonal || column[e] == row;
        sum += value[e] * x[column[e]];
    }
    y[row] = !diagonal && abs(sum) < 0.5 ? 0.0 : sum;
}
