#version 450
//! buffer 0 uint 0 0
//! finding data-race 9 10
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Counters { uint hits; uint last; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(hits, 1u);
    if (i == 0) hits = 0;
}
