#version 450
//! buffer 0 float 0*16
//! expect 0 float 0 0 1 0 1 1 1 -1 2 4 1 -2 3 9 1 -3
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Records { float d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    float v = float(i);
    uint at = i * 4;
    d[at] = v;
    d[at + 1] = v * v;
    d[at + 2] = 1.0;
    d[at + 3] = -v;
}
