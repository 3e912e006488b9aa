#version 450
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! buffer 2 uint 0*4
//! finding data-race 16 17
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer A { uint a[]; };
layout(std430, set=0, binding=1) buffer B { uint b[]; };
layout(std430, set=0, binding=2) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    a[i] = i;
    memoryBarrierBuffer();
    barrier();
    b[i] = 10 * i;
    into[i] = a[(i + 1) % 4] + b[(i + 2) % 4];
}
