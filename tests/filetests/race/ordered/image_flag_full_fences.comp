#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! image 1 storage_image 1d r32ui 1 1 1 uint 0
//! expect 0 uint 8 8
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { uint data; uint into; };
layout(set=0, binding=1, r32ui) uniform uimage1D flag;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        data = 8;
        memoryBarrier();
        imageAtomicExchange(flag, 0, 1u);
    } else {
        while (imageAtomicOr(flag, 0, 0u) == 0u) {}
        memoryBarrier();
        into = data;
    }
}
