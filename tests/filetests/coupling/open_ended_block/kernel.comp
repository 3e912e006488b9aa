#version 460
// A struct begins the buffer, and elements follow to its end.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; };
layout(std430, set = 0, binding = 1) readonly buffer Input { uint count; float rest[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(rest[i] + count);
    }
}
