#version 450
//! groups 2 1 1
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! buffer 1 uint 0*8
//! expect 1 uint 3 5 7 9 11 13 15 8
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    uint sum = d[g] + (g < 7 ? d[g + 1] : 0);
    into[g] = sum;
}
