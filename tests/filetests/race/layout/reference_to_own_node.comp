#version 450
//! buffer 0 uint 0*4
//! buffer 1 uint 1 2 3 4
//! address 0 0 1 0
//! address 0 8 1 8
//! expect 1 uint 3 2 7 4
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { uint a; uint b; };
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Nodes { Node nodes[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    nodes[i].a += nodes[i].b;
}
