#version 450
//! groups 2 1 1
//! buffer 0 uint 0*12
//! finding data-race 10 10
//! unordered
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    // The stride is that of a workgroup, and not of all.
    for (uint k = gl_GlobalInvocationID.x; k < 12; k += gl_WorkGroupSize.x) d[k] += 1;
}
