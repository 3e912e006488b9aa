#version 450
//! buffer 0 float 0 0 16 0 0 0 0 0
//! buffer 1 float 0*8
//! expect 1 float 0 4 8 4 0 0 0 0
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) readonly buffer Cells { float d[]; };
layout(std430, set=0, binding=1) buffer Next { float next[]; };
void main() {
    uint i = gl_LocalInvocationIndex + 1;
    next[i] = 0.25 * d[i - 1] + 0.5 * d[i] + 0.25 * d[i + 1];
}
