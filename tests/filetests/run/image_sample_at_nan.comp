#version 450
//! image 1 combined 2d r32f 1x1 1 1 float 5
//! buffer 0 float 0 9
//! expect 0 float 5 0
//! finding undefined-value 10
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(set=0, binding=1) uniform sampler2D img;
void main() { uint i = gl_LocalInvocationIndex; float q = i == 0u ? 1.0 : uintBitsToFloat(0x7fc00000u);
    r[i] = textureLod(img, vec2(0.5 * q, 0.5), 0.0).x;
}
