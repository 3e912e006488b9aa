#version 450
//! sequential-only
//! steps 2000000
//! groups 2 1 1
//! image 1 storage_image 1d r32ui 1 1 1 uint 0
//! image 2 storage_image 1d r32ui 2 1 1 uint 0 0
//! expect 2 uint 5 5
layout(local_size_x=1) in;
layout(set=0, binding=1, r32ui) uniform coherent uimage1D flag;
layout(set=0, binding=2, r32ui) uniform coherent uimage1D data;
void main() {
    if (gl_WorkGroupID.x == 0) {
        imageStore(data, 0, uvec4(5));
        memoryBarrierImage();
        imageAtomicExchange(flag, 0, 1u);
    } else {
        while (imageAtomicOr(flag, 0, 0u) == 0u) {}
        memoryBarrierImage();
        uint seen = imageLoad(data, 0).x;
        imageStore(data, 1, uvec4(seen));
    }
}
