#version 450
//! buffer 0 uint 0
//! buffer 1 uint 0*4
//! finding data-race 12 13
//! detail data-race memory buffer
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Counter { uint counter; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(counter, 1u);
    into[i] = counter;
}
