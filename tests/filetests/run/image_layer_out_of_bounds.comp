#version 450
//! image 1 storage_image 1d r32i 2 2 1 int 1 2 3 4
//! buffer 0 int 9*4
//! expect 0 int 1 3 0 0
//! finding out-of-bounds 10
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { int r[]; };
layout(set=0, binding=1, r32i) uniform readonly iimage1DArray img;
void main() { int i = int(gl_LocalInvocationIndex);
    r[i] = imageLoad(img, ivec2(0, i < 3 ? i : -1)).x;
}
