#version 450
//! spec-memory-model
//! image 1 storage_image 2d r32f 3x1 1 1 float 1 2 4
//! buffer 0 float 0*3
//! expect 0 float 6 12 3
layout(local_size_x=3) in;
layout(set=0, binding=1, r32f) uniform image2D img;
layout(std430, set=0, binding=0) buffer Into { float into[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    vec4 old = imageLoad(img, ivec2(i, 0));
    imageStore(img, ivec2(i, 0), 3.0 * old);
    memoryBarrierImage();
    barrier();
    memoryBarrierImage();
    into[i] = imageLoad(img, ivec2((i + 1) % 3, 0)).x;
}
