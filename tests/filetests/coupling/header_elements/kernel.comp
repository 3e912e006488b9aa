#version 460
// Elements of a buffer as the header of a C++ program declares them.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; };
struct Star { vec2 place; uint flags; float flux; mat2 spread; };
layout(std430, set = 0, binding = 1) readonly buffer Stars { Star star[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(star[i].place * star[i].spread, star[i].flux, star[i].flags);
    }
}
