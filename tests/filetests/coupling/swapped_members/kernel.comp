#version 460
// Two members of equal size: their order is a matter of names alone.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; uint first; uint second; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(first, second, 0, 0);
    }
}
