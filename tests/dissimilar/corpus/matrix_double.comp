#version 450
//! buffer 0 hex 0 0x3ff00000 0 0x40000000 0 0x40080000 0 0x40100000
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer D { double d[4]; };
void main() {
    dmat2 m = dmat2(d[0], d[1], d[2], d[3]);
    dvec2 v = m * dvec2(1.0LF, 0.5lf);
    double e = sqrt(v.x) + double(3) * 0.25lf - floor(v.y);
    d[0] = e;
    d[1] = m[1].x + float(e);
    d[2] = abs(-v.y) > 2.0 ? fract(v.x) : 1.0;
    d[3] = double(int(v.y)) + determinant(m);
}
