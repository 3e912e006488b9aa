#version 450
//! image 1 combined 2d r32f 4x1 1 1 float 1 ? 3 4
//! buffer 0 float 9*8
//! expect 0 float 1 1 _ _ 3 3 4 4
//! finding uninitialized-read 11
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(set=0, binding=1) uniform sampler2D img;
void main() { uint i = gl_LocalInvocationIndex;
    float seen = textureLod(img, vec2((i + 0.5) / 8.0, 0.5), 0.0).x;
    r[i] = seen;
}
