#version 450
//! buffer 0 int 5 0 7 0 0 3 9 0
//! buffer 1 int 0*8
//! buffer 2 uint 0
//! finding data-race 14 14
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { int from[]; };
layout(std430, set=0, binding=1) buffer Kept { int kept[]; };
layout(std430, set=0, binding=2) buffer Count { uint count; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (from[i] == 0) return;
    uint at = count++;
    kept[i] = int(at) + from[i];
}
