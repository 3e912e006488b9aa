#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7 8 9
//! buffer 1 float 0*8
//! finding data-race 14 16
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { float into[]; };
shared float weights[3];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 7) weights[0] = 0.0;
    barrier();
    if (i == 7) weights[0] = 1.0;
    float sum = 0.0;
    for (uint k = 0; k < 3; k++) sum += weights[0] * from[i + k];
    into[i] = sum;
}
