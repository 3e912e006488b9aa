#version 450
//! buffer 0 uint 0*4
//! expect 0 hex 0 0x3ff00000 0 0x40000000
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { double d[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = double(i + 1);
}
