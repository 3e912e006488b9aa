#version 460
// The host's struct, read from its header alone: the two first members are swapped.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint m; uint n; uint k; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(m, n, k, 0);
    }
}
