#version 450
//! buffer 0 float 0*8
//! alias 3 0
//! expect 0 float 1 1 1 1 4 5 6 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Vectors { vec4 v[]; };
layout(std430, set=0, binding=3) buffer Floats { float f[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 3) v[0] = vec4(1.0);
    else f[4 + i] = float(4 + i);
}
