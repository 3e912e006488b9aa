#version 450
//! buffer 0 int 5 0 7 0 0 3 9 0
//! buffer 1 int 0*8
//! buffer 2 uint 0
//! expect 1 int 5 7 3 9 0 0 0 0
//! expect 2 uint 4
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { int from[]; };
layout(std430, set=0, binding=1) buffer Kept { int kept[]; };
layout(std430, set=0, binding=2) buffer Count { uint count; };
shared uint keep[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    keep[i] = uint(from[i] != 0);
    barrier();
    uint at = 0;
    for (uint k = 0; k < i; k++) at += keep[k];
    if (keep[i] == 1) kept[at] = from[i];
    if (i == 7) count = at + keep[i];
}
