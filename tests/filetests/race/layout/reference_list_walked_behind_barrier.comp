#version 450
//! buffer 0 uint 0*2
//! buffer 1 uint 0 0 5 0
//! buffer 2 uint 0 0 7 0
//! buffer 3 uint 0*2
//! address 0 0 1
//! address 1 0 2
//! address 2 0 1
//! expect 3 uint 7 7
#extension GL_EXT_buffer_reference : require
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { Node next; uint value; };
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Head { Node head; };
layout(std430, set=0, binding=3) buffer Into { uint into[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) head = head.next;
    memoryBarrierBuffer();
    barrier();
    into[i] = head.value;
}
