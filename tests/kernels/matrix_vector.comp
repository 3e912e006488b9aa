#version 450

// Product of a matrix and a vector, both in groups of four numbers, with optional rectification. Two invocations share a row
// and add up their halves in workgroup memory.

#define ROWS 8

layout(local_size_x = 2, local_size_y = ROWS) in;

layout(std430, set = 0, binding = 0) readonly buffer Matrix { vec4 matrix[]; };
layout(std430, set = 0, binding = 1) readonly buffer Vector { vec4 vector[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Product { float product[]; };

layout(push_constant) uniform Parameters {
    uint rows;
    uint quads;
    uint rectify;
};

shared float partial[ROWS][2];

void main() {
    uint part = gl_LocalInvocationID.x;
    uint lane = gl_LocalInvocationID.y;
    uint row = gl_WorkGroupID.x * ROWS + lane;
    float sum = 0.0;
    if (row < rows) {
        for (uint quad = part; quad < quads; quad += 2u) {
            sum += dot(matrix[row * quads + quad], vector[quad]);
        }
    }
    partial[lane][part] = sum;
    barrier();

    if (part == 0u && row < rows) {
        float whole = partial[lane][0] + partial[lane][1];
        product[row] = rectify != 0u && whole < 0.0 ? 0.0 : whole;
    }
}
