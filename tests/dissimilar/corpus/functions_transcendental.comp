#version 450
//! buffer 0 float 0.1 0.25 0.5 0.75
//! buffer 1 float 0*64
layout(local_size_x = 4) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[4][16]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    float v = x[i], whole;
    int e;
    y[i][0] = exp2(v); y[i][1] = log2(v); y[i][2] = asin(v); y[i][3] = acos(v); y[i][4] = atan(v); y[i][5] = atan(v, 2);
    y[i][6] = sinh(v); y[i][7] = cosh(v); y[i][8] = asinh(v); y[i][9] = acosh(v + 1); y[i][10] = atanh(v); y[i][11] = tan(v);
    y[i][12] = frexp(v * 10, e); y[i][12] += e; y[i][13] = modf(v * 7, whole); y[i][13] += whole * 2; y[i][14] = ldexp(v, 3); y[i][15] = degrees(v);
}
