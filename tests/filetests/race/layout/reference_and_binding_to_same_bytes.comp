#version 450
//! buffer 0 uint 0*2
//! buffer 1 uint 0*4
//! address 0 0 1
//! finding data-race 16 14
//! unordered
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Block { uvec2 low; uvec2 high; };
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer From { Block block; };
layout(std430, set=0, binding=1) buffer Into { uint into[4]; };
void main() {
    if (gl_LocalInvocationIndex == 0)
        block.high = uvec2(1);
    else
        for (uint k = 0; k < 3; k++) into[k] = 5;
}
