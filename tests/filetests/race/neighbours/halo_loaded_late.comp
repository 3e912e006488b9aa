#version 450
//! groups 2 1 1
//! buffer 0 float 1 2 3 4 5 6 7 8 9 10
//! buffer 1 float 0*8
//! finding data-race 21 22
//! detail data-race memory workgroup
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { float into[]; };
shared float tile[6];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint base = gl_WorkGroupID.x * 4;
    tile[i] = 0.0;
    if (i < 2) tile[i + 4] = 0.0;
    barrier();
    tile[i + 1] = from[base + i + 1];
    barrier();
    // The ends of the tile come behind the barrier that they belong before.
    if (i == 1) tile[0] = from[base];
    float left = tile[i];
    into[base + i] = left + tile[i + 1];
}
