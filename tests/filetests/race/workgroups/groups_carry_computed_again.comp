#version 450
//! groups 3 1 1
//! buffer 0 uint 1 2 3 4 5 6
//! buffer 1 uint 0*6
//! expect 1 uint 1 3 6 10 15 21
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Sums { uint sums[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    uint sum = 0;
    for (uint k = 0; k <= g; k++) sum += from[k];
    sums[g] = sum;
}
