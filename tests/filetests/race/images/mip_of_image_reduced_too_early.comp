#version 450
//! image 1 storage_image 2d r32ui 4x4 1 1 uint 0*16
//! image 2 storage_image 2d r32ui 2x2 1 1 uint 0*4
//! finding data-race 11 14
//! unordered
layout(local_size_x=4, local_size_y=4) in;
layout(set=0, binding=1, r32ui) uniform uimage2D fine;
layout(set=0, binding=2, r32ui) uniform uimage2D coarse;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    imageStore(fine, at, uvec4(4 * at.y + at.x));
    if (at.x > 1 || at.y > 1) return;
    uint sum = 0;
    for (int k = 0; k < 4; k++) sum += imageLoad(fine, 2 * at + ivec2(k & 1, k >> 1)).x;
    imageStore(coarse, at, uvec4(sum));
}
