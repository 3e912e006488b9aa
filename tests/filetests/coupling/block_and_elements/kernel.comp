#version 460
// A struct of the interface begins the buffer, and its elements follow.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(std430, set = 0, binding = 1) readonly buffer Input { uint count; vec4 rest[]; };
layout(push_constant) uniform Sizes { uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = rest[i] * count;
    }
}
