#version 450
//! groups 3 1 1
//! buffer 0 int 0*10
//! finding data-race 11 11
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Data { int d[]; };
void main() {
    int first = int(gl_WorkGroupID.x) * 3;
    for (int k = first; k <= first + 3; k++) d[k] = first / 3 + 1;
}
