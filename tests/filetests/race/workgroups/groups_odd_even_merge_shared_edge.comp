#version 450
//! groups 3 1 1
//! buffer 0 int 6 5 4 3 2 1 0
//! finding data-race 11 11
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    uint at = 2 * gl_WorkGroupID.x;
    if (d[at] > d[at + 2]) { int keep = d[at]; d[at] = d[at + 2]; d[at + 2] = keep; }
}
