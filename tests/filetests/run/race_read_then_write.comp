#version 450
//! groups 2 1 1
//! buffer 0 uint 5 0 0
//! finding data-race 12 10
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    if (gl_WorkGroupID.x == 0) {
        r[1] = r[0]; 
    } else {
        r[0] = 9; 
    }
}
