#version 450
//! buffer 0 uint 1 2 3 4
//! buffer 1 uint 0*2
//! expect 1 uint 3 4
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { uint d[4]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = d[2 + i];
    d[i] = 7;
}
