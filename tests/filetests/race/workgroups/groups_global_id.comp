#version 450
//! groups 2 1 1
//! buffer 0 float 0*8
//! expect 0 float 0 1 2 3 4 5 6 7
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { float into[]; };
void main() {
    uint at = gl_GlobalInvocationID.x;
    into[at] = float(gl_GlobalInvocationID.x);
}
