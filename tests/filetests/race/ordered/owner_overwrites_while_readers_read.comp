#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 7 0
//! buffer 1 uint 0*3
//! finding data-race 14 19
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint data; uint readers; };
layout(std430, set=0, binding=1) buffer Into { uint into[3]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 3) {
        into[i] = data;
        atomicAdd(readers, 1u);
    } else {
        while (atomicOr(readers, 0u) < 3u) {}
        memoryBarrierBuffer();
        data = 8;
    }
}
