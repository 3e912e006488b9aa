#version 450
//! buffer 0 uint 5 5 5 5
//! buffer 1 uint 0*6
//! finding data-race 13 13
//! detail data-race same_value true
//! expect 1 uint 5 5 5 5 5 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) writeonly buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = from[i];
    if (i >= 2) into[4] = from[i];
}
