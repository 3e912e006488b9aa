#version 450
//! image 1 storage_image 2d r32f 1x1 1 1 float 0
//! image 2 storage_image 2d rg32f 1x1 1 1 float 0 0
//! expect 1 float 5
//! finding uninitialized-read 10
layout(local_size_x=1) in;
layout(set=0, binding=1, r32f) uniform writeonly image2D one;
layout(set=0, binding=2, rg32f) uniform writeonly image2D two;
void main() { vec4 v; v.x = 5.0;
    imageStore(one, ivec2(0), v); imageStore(two, ivec2(0), v);
}
