#version 450
//! spec-memory-model
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! finding data-race 12 17
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    memoryBarrierBuffer();
    barrier();
    memoryBarrierShared();
    barrier();
    into[i] = d[i ^ 1u];
}
