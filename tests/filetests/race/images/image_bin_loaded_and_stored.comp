#version 450
//! buffer 0 uint 0 1 1 2 1 0
//! image 1 storage_image 1d r32ui 3 1 1 uint 0*3
//! finding data-race 11 11
//! unordered
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(set=0, binding=1, r32ui) uniform uimage1D bins;
void main() {
    int bin = int(from[gl_LocalInvocationIndex]);
    imageStore(bins, bin, imageLoad(bins, bin) + 1u);
}
