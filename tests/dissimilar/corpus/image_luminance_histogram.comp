#version 450
//! buffer 0 hex 0xff0000ff 0x8000ff00 0x10ffffff 0x00404040
//! buffer 1 uint 0*16
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer Pixels { uint pixels[]; };
layout(binding = 1) buffer Bins { uint bins[16]; };
shared uint local_bins[16];
void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint b = i; b < 16; b += gl_WorkGroupSize.x) local_bins[b] = 0;
    barrier();
    vec4 colour = unpackUnorm4x8(pixels[i]);
    float luminance = dot(colour.rgb, vec3(0.2126, 0.7152, 0.0722));
    atomicAdd(local_bins[min(uint(luminance * 16), 15)], 1);
    barrier();
    for (uint b = i; b < 16; b += gl_WorkGroupSize.x) if (local_bins[b] > 0) atomicAdd(bins[b], local_bins[b]);
}
