#version 450
//! groups 4 1 1
//! buffer 0 uint 0*4
//! expect 0 uint 1 1 1 1
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Done { uint done[4]; };
void main() {
    done[gl_WorkGroupID.x] = 1;
}
