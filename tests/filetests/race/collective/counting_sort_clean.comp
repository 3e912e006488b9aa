#version 450
//! buffer 0 uint 3 1 0 2 3 3 1 0
//! buffer 1 uint 9*8
//! expect 1 uint 0 0 1 1 2 3 3 3
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint count[4], start[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint key = from[i];
    if (i < 4) count[i] = 0;
    barrier();
    atomicAdd(count[key], 1u);
    barrier();
    if (i < 4) {
        uint sum = 0;
        for (uint k = 0; k < i; k++) sum += count[k];
        start[i] = sum;
    }
    barrier();
    uint at = atomicAdd(start[key], 1u);
    into[at] = key;
}
