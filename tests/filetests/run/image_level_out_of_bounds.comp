#version 450
//! image 1 combined 2d r32f 2x1 1 2 float 1 2 3
//! buffer 0 float 9*4
//! expect 0 float 2 3 0 0
//! finding out-of-bounds 11
//! finding undefined-value 12
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(set=0, binding=1) uniform sampler2D img;
void main() { int i = int(gl_LocalInvocationIndex);
    float seen = texelFetch(img, ivec2(i == 0 ? 1 : 0, 0), i).x;
    if (i == 3) seen += textureSize(img, i).x;
    r[i] = seen;
}
