#version 450
//! groups 2 2 1
//! buffer 0 uint 1 2 3 4
//! buffer 1 uint 0*4
//! expect 1 uint 1 3 2 4
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Data { uint d[2][2]; };
layout(std430, set=0, binding=1) buffer Into { uint into[2][2]; };
void main() {
    uvec2 at = gl_WorkGroupID.xy;
    into[at.y][at.x] = d[at.x][at.y];
}
