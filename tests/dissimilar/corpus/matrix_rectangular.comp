#version 450
//! buffer 0 float 1 2 3 4 5 6
//! buffer 1 float 0*16
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer A { mat3x2 a; };
layout(std430, binding = 1) buffer B { vec2 v; vec3 w; mat2 m; float trace; };
void main() {
    v = a * vec3(1, 10, 100);
    w = v * a;
    m = a * transpose(a);
    m *= 0.5;
    m -= mat2(1, 0, 0, 1);
    mat2 n = m;
    n[1] = -n[1];
    ++n;
    trace = m[0].x + m[1].y + (m == n ? 1 : 0) + float(m != n) + float(n[0].length());
}
