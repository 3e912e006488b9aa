#version 450
//! buffer 0 uint 0*4
//! texel-alias 1 0 uniform_texel r32ui
//! buffer 2 uint 0*4
//! expect 2 uint 13 12 11 10
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
layout(set=0, binding=1) uniform usamplerBuffer texels;
layout(std430, set=0, binding=2) buffer Into { uint into[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    d[i] = 10 + i;
    memoryBarrier();
    barrier();
    into[i] = texelFetch(texels, 3 - i).x;
}
