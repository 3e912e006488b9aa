#version 450
//! image 1 storage_image 1d r32f 8 1 1 float 0*8
//! finding data-race 9 12
//! unordered
layout(local_size_x=8) in;
layout(set=0, binding=1, r32f) uniform image1D img;
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(img, i, vec4(0.5 * float(i)));
    memoryBarrierBuffer();
    barrier();
    float other = imageLoad(img, i ^ 1).x;
    if (other < 0.0) return;
}
