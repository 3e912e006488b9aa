#version 450
//! spec-memory-model
//! buffer 0 uint 0*8
//! finding data-race 13 10
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = i;
    memoryBarrierShared();
    barrier();
    r[4 + i] = r[(i + 1) % 4];
}
