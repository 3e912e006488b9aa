#version 450
//! groups 2 2 1
//! buffer 0 uint 0*48
//! expect 0 uint 0 1 2 3 100 101 102 103 200 201 202 203 300 301 302 303
layout(local_size_x=2, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.y * 4 + gl_GlobalInvocationID.x;
    r[i] = gl_GlobalInvocationID.x + 100 * gl_GlobalInvocationID.y + 0 * gl_LocalInvocationIndex;
}
