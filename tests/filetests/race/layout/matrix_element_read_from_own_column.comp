#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7
//! expect 0 float 0 1 2 3 4 5 6 7
layout(local_size_x=2) in;
layout(std430, set=0, binding=0, row_major) buffer Data { mat4x2 m; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    m[i][0] = m[i][0];
}
