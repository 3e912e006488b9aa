#version 450
//! groups 2 1 1
//! buffer 0 uint 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
//! buffer 1 uint 0*2
//! expect 1 uint 36 100
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) writeonly buffer Sums { uint sums[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = from[gl_GlobalInvocationID.x];
    barrier();
    for (uint d = 4; d > 0; d >>= 1) {
        if (i < d) s[i] += s[i + d];
        barrier();
    }
    if (i == 0) sums[gl_WorkGroupID.x] = s[0];
}
