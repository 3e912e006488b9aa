#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 10 11 12 13
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint a[4] = uint[](10, 11, 12, 13);
    r[i] = a[i];
}
