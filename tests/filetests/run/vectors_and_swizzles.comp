#version 450
//! buffer 0 float 0*6
//! expect 0 float 3 2 1 6 2 14
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
void main() {
    vec3 v = vec3(1, 2, 3);
    v = v.zyx;
    r[0] = v.x; r[1] = v.y; r[2] = v.z;
    vec4 w = vec4(v.xy, 1, 0);
    w.zw += vec2(1, 2);
    r[3] = w.x + w.y + w.z - 1.0;
    int k = int(r[1]) - 1;
    r[4] = v[k];
    r[5] = dot(v, v);
}
