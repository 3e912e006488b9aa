#version 450
//! uniform 0 float 1 2 0 0 3 4 0 0 5 6 7 0 8 9 10 0 11 12 13 0 2 3 0 0
//! buffer 1 float 0*12
layout(local_size_x = 1) in;
layout(std140, binding = 0) uniform U { mat2 small; layout(row_major) mat3 rows; vec2 v; } u;
layout(std430, binding = 1) buffer R { mat3 product; };
void main() {
    mat3 m = matrixCompMult(u.rows, mat3(2.0));
    m[2] = vec3(u.small * u.v, u.small[1].x);
    m[0][1] += u.rows[1][0];
    product = m * outerProduct(vec3(1, 2, 3), vec3(1, 0, 1)) + mat3(u.small);
}
