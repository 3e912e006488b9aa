#version 450
//! image 1 storage_image 2d r32f 4x2 1 1 float 0 4 8 4 8 0 0 8
//! finding data-race 9 9
//! unordered
layout(local_size_x=4, local_size_y=2) in;
layout(set=0, binding=1, r32f) uniform image2D from;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy), next = ivec2((at.x + 1) % 4, at.y);
    imageStore(from, at, 0.5 * (imageLoad(from, at) + imageLoad(from, next)));
}
