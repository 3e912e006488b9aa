#version 450
//! groups 2 2 1
//! buffer 0 uint 0*16
//! expect 0 uint 0 1 2 3 10 11 12 13 20 21 22 23 30 31 32 33
layout(local_size_x=2, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    into[at.y * 4 + at.x] = 10 * at.y + at.x;
}
