#version 450
//! uniform 1 float 1 9 9 9 2 9 9 9 3 9 9 9
//! buffer 0 float 0*3
//! expect 0 float 1 2 3
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(std140, set=0, binding=1) uniform U { float u[3]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = u[i];
}
