#version 450
//! buffer 0 uint 0 100 0 4294967295 0 255 15 0
//! expect 0 uint 28 72 7 0 8 0 15 _
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(r[0], i);
    atomicAdd(r[1], -i);
    atomicMax(r[2], i);
    atomicMin(r[3], i);
    atomicAdd(r[4], 1u);
    atomicAnd(r[5], ~(255u));
    atomicOr(r[6], i & 1u);
    atomicExchange(r[7], i);
}
