#version 450
//! buffer 0 uint 1 0 1 1
//! buffer 1 uint 0
//! expect 1 uint 3
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
shared uint count;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 3) count = 0;
    barrier();
    if (from[i] != 0) atomicAdd(count, 1u);
    barrier();
    if (i == 0) into = count;
}
