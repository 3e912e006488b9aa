#version 460
// Elements from the start on, where the kernel has a count before them.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; };
layout(std430, set = 0, binding = 1) readonly buffer Stars { uint count; float flux[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(flux[min(i, count)]);
    }
}
