#version 450
//! buffer 0 float 0.1 0.2 0.3 1 0.5 0.6 0.7 1
//! buffer 1 hex 0*2
layout(local_size_x = 2) in;
layout(binding = 0) buffer Linear { vec4 linear[]; };
layout(binding = 1) buffer Packed { uint packed_rgba[]; };
vec3 to_srgb(vec3 c) {
    bvec3 cutoff = lessThan(c, vec3(0.0031308));
    vec3 higher = 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055;
    return mix(higher, c * 12.92, cutoff);
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= linear.length()) return;
    packed_rgba[i] = packUnorm4x8(vec4(to_srgb(linear[i].rgb), linear[i].a));
    linear[i].rgb = unpackUnorm4x8(packed_rgba[i]).bgr;
}
