#version 450
//! spec-memory-model
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! finding data-race 13 18
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    memoryBarrierBuffer();
    d[i] = i;
    uint from = i + 3;
    barrier();
    from &= 3u;
    memoryBarrierBuffer();
    uint value = d[from];
    into[i] = value;
}
