#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 1 0 1 1 1 2 1 3
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(d[2 * i], 1u);
    d[2 * i + 1] = i;
}
