#version 450
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! expect 1 uint 2 3 0 1
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = i;
    memoryBarrierBuffer();
    into[i] = 100 + i;
    barrier();
    uint from = i ^ 2u;
    memoryBarrierBuffer();
    into[i] = d[from];
}
