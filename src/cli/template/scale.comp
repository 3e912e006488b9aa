#version 450

// Multiplies the first `count` elements of a buffer by a factor, and limits the result to [low, high].
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Input { float source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { float result[]; };

layout(push_constant) uniform Parameters {
    uint count;
    float factor;
    float low;
    float high;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    float value = source[i] * factor;
    if (value < low || value > high) {
        value = value < low ? low : high;
    }
    result[i] = value;
}
