#version 450
//! buffer 0 float 0*16
//! expect 0 float 0*4 1*4 2*4 3*4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { mat4 m; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    m[i] = vec4(float(i));
}
