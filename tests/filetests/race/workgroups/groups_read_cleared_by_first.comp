#version 450
//! groups 2 1 1
//! buffer 0 int 9*8
//! finding data-race 10 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    int g = int(gl_GlobalInvocationID.x);
    if (gl_WorkGroupID.x == 0) d[g + 4] = 0;
    d[g] += g;
}
