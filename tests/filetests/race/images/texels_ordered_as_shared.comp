#version 450
//! texels 1 storage_texel rgba8ui hex 0 0
//! buffer 0 uint 0*2
//! finding data-race 11 13
//! unordered
layout(local_size_x=2) in;
layout(set=0, binding=1, rgba8ui) uniform uimageBuffer t;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
void main() {
    int i = int(gl_LocalInvocationIndex);
    imageStore(t, i, uvec4(11 * (i + 1)));
    barrier();
    into[i] = imageLoad(t, 1 - i).w;
}
