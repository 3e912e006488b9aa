#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 0 1 2 3 1 2 3 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = i;
    memoryBarrierBuffer();
    memoryBarrierShared();
    barrier();
    r[4 + i] = r[(i + 1) % 4];
}
