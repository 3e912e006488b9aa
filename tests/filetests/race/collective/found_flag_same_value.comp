#version 450
//! buffer 0 uint 4 8 15 16 23 42 15 8
//! buffer 1 uint 0
//! finding data-race 12 12
//! detail data-race same_value true
//! expect 1 uint 1
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Found { uint found; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (from[i] == 15) found = 1;
}
