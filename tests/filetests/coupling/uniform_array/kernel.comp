#version 460
// std140 puts 16 bytes between the elements of an array of floats.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; };
layout(std140, set = 0, binding = 1) uniform Weights { float weight[4]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(weight[i & 3]);
    }
}
