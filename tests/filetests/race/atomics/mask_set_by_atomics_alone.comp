#version 450
//! buffer 0 uint 0
//! expect 0 uint 15
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Mask { uint mask; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0)
        atomicOr(mask, 1u);
    else
        atomicOr(mask, 1u << i);
}
