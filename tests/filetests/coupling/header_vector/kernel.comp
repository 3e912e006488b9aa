#version 460
// A vector of three takes the room of four with the compiler.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(std430, set = 0, binding = 1) readonly buffer Input { vec3 value[]; };
layout(push_constant) uniform Sizes { uint n; uint flags; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(value[i], flags);
    }
}
