#version 450
//! buffer 0 uint 0*4
//! finding data-race 10 10
//! detail data-race same_value true
//! expect 0 hex 0 0x3ff00000
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { double d[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i / 2] = 1.0lf;
}
