#version 450
//! image 1.0 combined 2d r32f 1x1 1 1 float 10
//! image 1.1 combined 2d r32f 1x1 1 1 float 20
//! buffer 0 float 9*3
//! expect 0 float 10 20 0
//! finding out-of-bounds 12
//! sequential-only
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(set=0, binding=1) uniform sampler2D img[2];
void main() { uint i = gl_LocalInvocationIndex;
    r[i] = textureLod(img[i], vec2(0.5), 0.0).x;
}
