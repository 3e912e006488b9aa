#version 450
//! buffer 0 uint 1 2 3 4
//! alias 1 0
//! buffer 2 uint 0*4
//! finding data-race 13 14
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
layout(std430, set=0, binding=1) readonly buffer B { uint b[]; };
layout(std430, set=0, binding=2) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint sum = a[i] + b[(i + 1) & 3u];
    a[i] = sum;
}
