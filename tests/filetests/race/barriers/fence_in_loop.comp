#version 450
//! buffer 0 uint 1 0 0 0 0
//! expect 0 uint 1 2 3 4 5
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[5]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint step = 0; step < 4; step++) {
        if (step == i) d[i + 1] = d[i] + 1;
        memoryBarrierBuffer();
        barrier();
    }
}
