#version 450
//! buffer 0 uint 1 0 0 0 0
//! finding data-race 11 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[5]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    memoryBarrierBuffer();
    for (uint step = 0; step < 4; step++) {
        if (step == i) d[i + 1] = d[i] + 1;
        barrier();
    }
}
