#version 450
//! groups 3 1 1
//! buffer 0 uint 1 2 3 4 5 6
//! buffer 1 uint 0*4
//! expect 1 uint 3 7 11 0
//! spare 18
//! spare 19
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Sums { uint sums[4]; };
shared uint s[2];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = from[gl_GlobalInvocationID.x];
    barrier();
    uint group = gl_WorkGroupID.x;
    if (i == 0) sums[group] = s[0] + s[1];
    memoryBarrierBuffer();
    barrier();
}
