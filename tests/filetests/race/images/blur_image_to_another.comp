#version 450
//! image 1 storage_image 2d r32f 4x2 1 1 float 0 4 8 4 8 0 0 8
//! image 2 storage_image 2d r32f 4x2 1 1 float 0*8
//! expect 2 float 2 6 6 2 4 0 4 8
layout(local_size_x=4, local_size_y=2) in;
layout(set=0, binding=1, r32f) uniform image2D from;
layout(set=0, binding=2, r32f) uniform image2D into;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy), next = ivec2((at.x + 1) % 4, at.y);
    imageStore(into, at, 0.5 * (imageLoad(from, at) + imageLoad(from, next)));
}
