#version 450
//! groups 4 1 1
//! buffer 0 uint 0*4
//! expect 0 uint 0 1 2 3
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[gl_WorkGroupID.x] = gl_WorkGroupID.x;
}
