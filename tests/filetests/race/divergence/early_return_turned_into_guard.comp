#version 450
//! push uint 3
//! buffer 0 float 1 2 3 4
//! expect 0 float 3 5 4 4
layout(local_size_x=4) in;
layout(push_constant) uniform P { uint n; };
layout(std430, set=0, binding=0) buffer Data { float d[]; };
shared float s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i < n ? d[i] : 0.0;
    barrier();
    if (i >= n) return;
    if (i + 1 < n) d[i] = s[i] + s[i + 1];
    else d[i] = s[i] + s[0];
}
