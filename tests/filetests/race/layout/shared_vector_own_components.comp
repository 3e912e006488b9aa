#version 450
//! buffer 0 float 0*4
//! expect 0 float 1 2 3 4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { vec4 into; };
shared vec4 v;
void main() {
    uint i = gl_LocalInvocationIndex;
    v[i] = float(i + 1);
    barrier();
    if (i == 0) into = v;
}
