#version 450
//! image 1 storage_image 2d r32ui 3x2 1 1 uint 1 2 3 4 5 6
//! buffer 0 uint 9*8
//! expect 0 uint 1 2 3 0 4 5 6 0
//! expect 1 uint 21 22 23 24 25 26
//! finding out-of-bounds 12
//! finding out-of-bounds 13
layout(local_size_x=4, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(set=0, binding=1, r32ui) uniform uimage2D img;
void main() { ivec2 at = ivec2(gl_LocalInvocationID.xy);
    uint seen = imageLoad(img, at).x;
    imageStore(img, at, uvec4(seen + 20u));
    r[gl_LocalInvocationIndex] = seen;
}
