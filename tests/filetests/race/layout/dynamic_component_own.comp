#version 450
//! buffer 0 int 0*4
//! expect 0 int 0 10 20 30
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { ivec4 v; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    v[i % 4] = 10 * i;
}
