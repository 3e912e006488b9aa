#version 450
//! groups 2 1 1
//! buffer 0 uint 0 0 0
//! expect 0 uint 1 0 1
//! finding data-race 13 11
//! detail data-race reach across-workgroups
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    if (gl_WorkGroupID.x == 0) {
        r[0] = 1; 
    } else {
        r[2] = r[0]; 
    }
}
