#version 450
//! buffer 0 float 1 2 3 6
//! buffer 1 float 0*8
//! expect 1 float 3 3.5 3 3.5 3 3.5 3 3.5
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { vec2 into[]; };
shared float part[4];
float sum() {
    return part[0] + part[1] + part[2] + part[3];
}
void main() {
    uint i = gl_LocalInvocationIndex;
    part[i] = from[i];
    barrier();
    float mean = sum() / 4.0;
    barrier();
    part[i] = (from[i] - mean) * (from[i] - mean);
    barrier();
    into[i] = vec2(mean, sum() / 4.0);
}
