#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0*16
//! expect 0 float 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Halves { vec4 h[2][4]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint step = 0; step < 2; step++) {
        h[1 - step][i] = h[step][(i + 1) % 4];
        memoryBarrierBuffer();
        barrier();
    }
}
