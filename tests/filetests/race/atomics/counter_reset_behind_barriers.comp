#version 450
//! buffer 0 uint 0 0
//! expect 0 uint 0 4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Counters { uint hits; uint last; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(hits, 1u);
    memoryBarrierBuffer();
    barrier();
    if (i == 0) {
        last = hits;
        hits = 0;
    }
}
