#version 450
//! image 1 storage_image 2d r8ui 8x1 1 1 hex 0 0
//! finding data-race 11 10
//! detail data-race memory image
//! unordered
layout(local_size_x=4) in;
layout(set=0, binding=1, r8ui) uniform uimage2D img;
void main() { int i = int(gl_LocalInvocationIndex);
    // Neighbours in one word do not race.
    imageStore(img, ivec2(i, 0), uvec4(i));
    uvec4 seen = imageLoad(img, ivec2(i ^ 1, 0));
    if (seen.x < 9u) imageStore(img, ivec2(4 + i, 0), seen);
}
