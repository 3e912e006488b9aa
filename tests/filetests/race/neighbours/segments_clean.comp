#version 450
//! buffer 0 uint 9*13
//! expect 0 uint 0*3 1*3 2*3 3*3 9
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint k = i * 3; k < i * 3 + 3; k++) d[k] = i;
}
