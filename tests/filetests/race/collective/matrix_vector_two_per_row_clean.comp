#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
//! buffer 1 float 1 2 3 4
//! buffer 2 float 0*4
//! expect 2 float 20 60 100 140
layout(local_size_x=2, local_size_y=4) in;
layout(std430, set=0, binding=0) readonly buffer M { float m[4][4]; };
layout(std430, set=0, binding=1) readonly buffer X { float x[4]; };
layout(std430, set=0, binding=2) buffer Y { float y[4]; };
shared float half_sums[4][2];
void main() {
    uint row = gl_LocalInvocationID.y, part = gl_LocalInvocationID.x;
    float sum = 0.0;
    for (uint c = part * 2; c < part * 2 + 2; c++) sum += m[row][c] * x[c];
    half_sums[row][part] = sum;
    barrier();
    if (part == 0) y[row] = half_sums[row][0] + half_sums[row][1];
}
