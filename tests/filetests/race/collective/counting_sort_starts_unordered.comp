#version 450
//! buffer 0 uint 3 1 0 2 3 3 1 0
//! buffer 1 uint 9*8
//! finding data-race 21 23
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint count[4], start[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint key = from[i];
    if (i < 4) count[i] = 0;
    if (i < 4) start[i] = 0;
    barrier();
    atomicAdd(count[key], 1u);
    barrier();
    if (i < 4) {
        uint sum = 0;
        for (uint k = 0; k < i; k++) sum += count[k];
        start[i] = sum;
    }
    uint at = atomicAdd(start[key], 1u);
    if (at > 8) into[0] = key;
}
