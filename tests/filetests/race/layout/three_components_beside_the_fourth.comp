#version 450
//! buffer 0 float 0*8
//! expect 0 float 1 1 1 7 2 2 2 7
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { vec4 v[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = i / 2;
    if (i % 2 == 0) { v[at].x = float(at + 1); v[at].y = float(at + 1); v[at].z = float(at + 1); }
    else v[at].w = 7.0;
}
