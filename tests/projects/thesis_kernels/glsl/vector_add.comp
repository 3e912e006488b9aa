#version 450

// Adds two vectors element by element.

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Sum { float sum[]; };

layout(push_constant) uniform Parameters {
    uint count;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    sum[i] = left[i] + right[i];
}
