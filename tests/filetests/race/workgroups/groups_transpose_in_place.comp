#version 450
//! groups 2 2 1
//! buffer 0 uint 1 2 3 4
//! finding data-race 11 11
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Data { uint d[2][2]; };
void main() {
    uvec2 at = gl_WorkGroupID.xy;
    d[at.y][at.x] = d[at.x][at.y];
}
