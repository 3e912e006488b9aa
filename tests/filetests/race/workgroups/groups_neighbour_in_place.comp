#version 450
//! groups 2 1 1
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! finding data-race 11 15
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    uint sum = d[g] + (g < 7 ? d[g + 1] : 0);
    memoryBarrierBuffer();
    barrier();
    // The barrier orders the workgroup, and not the first element of the next one.
    d[g] = sum;
}
