#version 450
//! buffer 0 int 2 0 0 9
//! neighbour buffer 0 int 1 0 0 9
//! image 1 combined 2d r32f 2x1 1 1 float 5 6
//! finding out-of-bounds 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { int a[]; };
layout(set=0, binding=1) uniform sampler2D img;
void main() {
    a[3] = int(texelFetch(img, ivec2(a[0], 0), 0).x);
}
