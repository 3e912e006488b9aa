#version 450
//! buffer 0 float 0*16
//! finding data-race 9 10
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { mat4 m; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    if (i == 0) m[1] = vec4(1.0);
    else for (int c = 0; c < 4; c++) m[c][i] = 2.0;
}
