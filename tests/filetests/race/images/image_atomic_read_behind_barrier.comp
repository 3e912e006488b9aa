#version 450
//! buffer 0 uint 0*4
//! image 1 storage_image 2d r32ui 1x1 1 1 uint 0
//! expect 0 uint 4 4 4 4
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
layout(set=0, binding=1, r32ui) uniform uimage2D count;
void main() {
    uint i = gl_LocalInvocationIndex;
    imageAtomicAdd(count, ivec2(0), 1u);
    memoryBarrierImage();
    barrier();
    into[i] = imageLoad(count, ivec2(0)).x;
}
