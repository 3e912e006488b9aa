#version 450

// Adds a multiple of one vector to another: y = factor * x + y, over the first `count` elements.

#define GROUP 64

layout(local_size_x = GROUP) in;

layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };

layout(push_constant) uniform Parameters {
    uint count;
    float factor;
};

void main() {
    uint i = gl_WorkGroupID.x * GROUP + gl_LocalInvocationID.x;
    if (i < count) {
        y[i] = factor * x[i] + y[i];
    }
}
