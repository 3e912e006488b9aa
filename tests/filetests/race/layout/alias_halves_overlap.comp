#version 450
//! buffer 0 uint 1 2 3 4 0*64
//! alias 1 0 8
//! finding data-race 11 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = from[i];
}
