#version 450
//! texels 1 storage_texel r32ui uint 4 3 2 1
//! expect 1 uint 3 2 1 4
layout(local_size_x=4) in;
layout(set=0, binding=1, r32ui) uniform uimageBuffer t;
void main() {
    int i = int(gl_LocalInvocationIndex);
    uvec4 next = imageLoad(t, (i + 1) & 3);
    memoryBarrierImage();
    barrier();
    imageStore(t, i, next);
}
