#version 450
//! buffer 0 int 0 10 20 30 40 50 60 70 80
//! finding data-race 9 9
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i + 1] = d[i];
}
