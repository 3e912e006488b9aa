#version 450
//! groups 2 1 1
//! buffer 0 uint 0*4
//! expect 0 uint 2 1 4 3
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    into[g ^ 1u] = g + 1;
}
