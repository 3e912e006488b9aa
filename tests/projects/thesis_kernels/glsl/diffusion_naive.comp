#version 450

// One step of diffusion on a grid, read from memory by each invocation. Cells at the edge of the grid keep their value.

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, set = 0, binding = 0) readonly buffer Before { float before[]; };
layout(std430, set = 0, binding = 1) writeonly buffer After { float after[]; };

layout(push_constant) uniform Parameters {
    uint width;
    uint height;
    float rate;
};

void main() {
    uint x = gl_GlobalInvocationID.x;
    uint y = gl_GlobalInvocationID.y;
    if (x >= width || y >= height) {
        return;
    }

    uint cell = y * width + x;
    float value = before[cell];
    if (x > 0u && x < width - 1u && y > 0u && y < height - 1u) {
        float around = before[cell - 1u] + before[cell + 1u] + before[cell - width] + before[cell + width];
        value += rate * (around - 4.0 * value);
    }
    after[cell] = value;
}
