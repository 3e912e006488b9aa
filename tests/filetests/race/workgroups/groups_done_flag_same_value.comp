#version 450
//! groups 4 1 1
//! buffer 0 uint 0*4
//! finding data-race 11 11
//! detail data-race same_value true
//! detail data-race reach across-workgroups
//! expect 0 uint 1 0 0 0
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Done { uint done[4]; };
void main() {
    done[0] = 1;
}
