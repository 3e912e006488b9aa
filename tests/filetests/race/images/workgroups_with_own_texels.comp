#version 450
//! groups 2 1 1
//! image 1 storage_image 2d r32ui 5x1 1 1 uint 0*5
//! expect 1 uint 1 1 2 2 0
layout(local_size_x=2) in;
layout(set=0, binding=1, r32ui) uniform uimage2D img;
void main() {
    int at = int(gl_GlobalInvocationID.x);
    imageStore(img, ivec2(at, 0), uvec4(gl_WorkGroupID.x + 1));
}
