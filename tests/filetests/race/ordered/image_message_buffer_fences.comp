#version 450
//! sequential-only
//! steps 2000000
//! image 1 storage_image 1d r32ui 3 1 1 uint 0*3
//! finding data-race 13 19
//! detail data-race memory image
//! unordered
layout(local_size_x=2) in;
layout(set=0, binding=1, r32ui) uniform uimage1D img;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        imageStore(img, 1, uvec4(9));
        memoryBarrierBuffer();
        imageAtomicExchange(img, 0, 1u);
    } else {
        while (imageAtomicAdd(img, 0, 0u) == 0u) {}
        memoryBarrierBuffer();
        uvec4 seen = imageLoad(img, 1);
        imageStore(img, 2, seen);
    }
}
