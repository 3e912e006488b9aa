#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7 8 9
//! buffer 1 float 0*8
//! expect 1 float 8 14 20 26 32 38 44 50
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { float into[]; };
shared float weights[3];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 3) weights[i] = float(i + 1);
    barrier();
    float sum = 0.0;
    for (uint k = 0; k < 3; k++) sum += weights[k] * from[i + k];
    into[i] = sum;
}
