#version 450
//! buffer 0 uint 1 2 3 4 5 6 7 8
//! buffer 1 uint 0*8
//! expect 1 uint 10 4 6 8 10 12 14 8
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = from[(i + 7) % 8] + from[(i + 1) % 8];
}
