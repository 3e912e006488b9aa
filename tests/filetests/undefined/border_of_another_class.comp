#version 450
//! buffer 0 float 2 0 0 9
//! neighbour buffer 0 float 0.5 0 0 9
//! image 1 combined 2d r32ui 1x1 1 1 uint 5
//! finding undefined-value 10
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
layout(set=0, binding=1) uniform usampler2D img;
void main() {
    a[3] = float(textureLod(img, vec2(a[0], 0.5), 0.0).x);
}
