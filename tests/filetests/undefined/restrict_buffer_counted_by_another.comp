#version 450
//! buffer 0 uint 1 2 3 4 5
//! alias 1 0 0
//! neighbour alias 1 0 16
//! finding undefined-value 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Counts { uint counts[]; };
layout(std430, set=0, binding=1) restrict buffer Others { uint others[]; };
void main() {
    if (gl_LocalInvocationIndex == 0u) atomicAdd(others[0], 1u); else atomicAdd(counts[0], 1u);
}
