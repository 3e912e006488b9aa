#version 450
//! groups 3 1 1
//! buffer 0 uint 1 2 3 4 5 6
//! buffer 1 uint 0*6
//! finding data-race 16 14
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Sums { uint sums[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 1) return;
    uint carry = g == 0 ? 0 : sums[g - 1];
    sums[g] = carry + from[g];
    sums[g + 1] = carry + from[g] + from[g + 1];
}
