#version 450
//! buffer 0 hex 0
//! expect 0 hex 0x87654321
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Packed { uint packed; };
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicOr(packed, (i + 1) << (4 * i));
}
