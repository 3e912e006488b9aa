#version 460
// A matrix has as many columns on both sides, as far apart.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; mat3 view; mat3x4 model; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(view[2], 1) * model[1].x;
    }
}
