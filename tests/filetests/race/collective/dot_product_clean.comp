#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
//! buffer 1 float 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
//! buffer 2 float 0
//! expect 2 float 240
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer A { vec4 a[]; };
layout(std430, set=0, binding=1) readonly buffer B { vec4 b[]; };
layout(std430, set=0, binding=2) buffer Into { float into; };
shared float part[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    part[i] = dot(a[i], b[i]);
    barrier();
    if (i == 0) into = part[0] + part[1] + part[2] + part[3];
}
