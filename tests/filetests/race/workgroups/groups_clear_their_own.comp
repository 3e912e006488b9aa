#version 450
//! groups 2 1 1
//! buffer 0 int 9*8
//! expect 0 int 0 1 2 3 4 5 6 7
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    int g = int(gl_GlobalInvocationID.x);
    d[g] = 0;
    d[g] += g;
}
