#version 450
//! push uint 3
//! buffer 0 float 1 2 3 4
//! completion error
//! finding barrier-divergence 14 12
layout(local_size_x=4) in;
layout(push_constant) uniform P { uint n; };
layout(std430, set=0, binding=0) buffer Data { float d[]; };
shared float s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i >= n) return;
    s[i] = d[i];
    barrier();
    d[i] = s[i];
}
