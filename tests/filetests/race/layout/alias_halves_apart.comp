#version 450
//! buffer 0 uint 1 2 3 4 0*64
//! alias 1 0 256
//! expect 0 uint 1 2 3 4 0*60 1 2 3 4
//! sequential-only
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    into[i] = from[i];
}
