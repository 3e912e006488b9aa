#version 450
//! groups 3 1 1
//! buffer 0 int 6 5 4 3 2 1 0
//! expect 0 int 5 6 3 4 1 2 0
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    uint at = 2 * gl_WorkGroupID.x;
    if (d[at] > d[at + 1]) {
        int keep = d[at];
        d[at] = d[at + 1];
        d[at + 1] = keep;
    }
}
