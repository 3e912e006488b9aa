#version 450
//! buffer 0 float 0*8
//! expect 0 float 17 39 7 11 5 11 23 34
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
void main() {
    mat2 a = mat2(1, 3, 2, 4);
    vec2 v = vec2(5, 6);
    vec2 av = a * v;
    r[0] = av.x; r[1] = av.y;
    mat2 b = mat2(1, 2, 3, 4);
    vec2 col = a * vec2(1, 3);
    r[2] = col.x; r[3] = (vec2(2, 3) * a).x;
    mat2 p = a * b;
    r[4] = p[0][0]; r[5] = p[0][1];
    vec2 u = v * b;
    r[6] = u.x + 6.0; r[7] = dot(v, vec2(2, 4));
}
