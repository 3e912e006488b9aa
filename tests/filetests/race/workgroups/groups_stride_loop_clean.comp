#version 450
//! groups 2 1 1
//! buffer 0 uint 0*12
//! expect 0 uint 1*12
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint stride = gl_WorkGroupSize.x * gl_NumWorkGroups.x;
    for (uint k = gl_GlobalInvocationID.x; k < 12; k += stride) d[k] += 1;
}
