#version 450
//! buffer 0 uint 0*4
//! finding uninitialized-read 14
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint a[4];
    for (uint k = 0; k < i; k++)
        a[k] = k;
    if (i > 0)
        r[i] = a[i - 1];
    if (i == 3)
        r[0] = a[i]; 
}
