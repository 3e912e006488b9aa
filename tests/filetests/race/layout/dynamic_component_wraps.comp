#version 450
//! buffer 0 int 0*4
//! finding data-race 9 9
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { ivec4 v; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    v[i % 3] = 10 * i;
}
