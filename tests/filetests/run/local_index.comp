#version 450
//! groups 2 1 1
//! buffer 0 uint 0*12
//! expect 0 uint 0 1 2 3 4 5 1000 1001 1002 1003 1004 1005
layout(local_size_x=3, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[gl_WorkGroupID.x * 6 + gl_LocalInvocationIndex] = 1000 * gl_WorkGroupID.x + gl_LocalInvocationIndex;
}
