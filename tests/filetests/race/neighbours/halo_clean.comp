#version 450
//! groups 2 1 1
//! buffer 0 float 1 2 3 4 5 6 7 8 9 10
//! buffer 1 float 0*8
//! expect 1 float 1.5 2.25 3 3.75 4.5 5.25 6 6.75
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { float into[]; };
shared float tile[6];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint base = gl_WorkGroupID.x * 4;
    tile[i + 1] = from[base + i + 1];
    if (i == 0) tile[0] = from[base];
    if (i == 3) tile[5] = from[base + 5];
    barrier();
    into[base + i] = (tile[i] + tile[i + 1] + tile[i + 2]) / 4.0;
}
