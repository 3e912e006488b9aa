#version 450
//! image 1 storage_image 1d r32f 8 1 1 float 0*8
//! expect 1 float 0.5 0 1.5 1 2.5 2 3.5 3
layout(local_size_x=8) in;
layout(set=0, binding=1, r32f) uniform image1D img;
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(img, i, vec4(0.5 * float(i)));
    memoryBarrierImage();
    barrier();
    float other = imageLoad(img, i ^ 1).x;
    memoryBarrierImage();
    barrier();
    imageStore(img, i, vec4(other));
}
