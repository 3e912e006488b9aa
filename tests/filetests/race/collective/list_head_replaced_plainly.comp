#version 450
//! buffer 0 uint 99
//! buffer 1 uint 0*4
//! finding data-race 13 12
//! finding data-race 13 13
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Head { uint head; };
layout(std430, set=0, binding=1) buffer Next { uint next[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    next[i] = head;
    head = i;
}
