#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 99
//! buffer 1 uint 0*4
//! buffer 2 uint 0
//! finding data-race 16 22
//! unordered
layout(local_size_x=2) in;
struct Node { uint value; uint next; };
layout(std430, set=0, binding=0) buffer Head { uint head; };
layout(std430, set=0, binding=1) buffer Nodes { Node nodes[2]; };
layout(std430, set=0, binding=2) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        nodes[1].value = 5;
        atomicExchange(head, 1u);
    } else {
        uint at = 99;
        while (at == 99) at = atomicAdd(head, 0u);
        memoryBarrierBuffer();
        into = nodes[at & 1u].value;
    }
}
