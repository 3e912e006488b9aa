#version 450

// Tiled matrix product whose whole body stands under the guard. Wrong on purpose, in the manner of the paper's figure 5:
//
//   - the barriers are reached only by invocations inside the result, although a workgroup at the edge holds others;
//   - those others load no tile element, although the inner loop reads the tiles whole;
//   - the number of tiles is rounded down, so a last partial tile is dropped.

#define BLOCK_SIZE 16

layout(local_size_x = BLOCK_SIZE, local_size_y = BLOCK_SIZE, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) buffer Result { float result[]; };

layout(push_constant) uniform Sizes {
    uint m;
    uint n;
    uint k;
};

shared float leftTile[BLOCK_SIZE][BLOCK_SIZE];
shared float rightTile[BLOCK_SIZE][BLOCK_SIZE];

void main() {
    uint x = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    uint y = gl_WorkGroupID.y * gl_WorkGroupSize.y + gl_LocalInvocationID.y;
    uint tx = gl_LocalInvocationID.x;
    uint ty = gl_LocalInvocationID.y;
    float sum = 0.0;

    if (x < k && y < m) {
        for (uint tile = 0; tile < n / BLOCK_SIZE; ++tile) {
            leftTile[ty][tx] = left[y * n + tile * BLOCK_SIZE + tx];
            rightTile[ty][tx] = right[(tile * BLOCK_SIZE + ty) * k + x];
            barrier();

            for (uint i = 0; i < BLOCK_SIZE; ++i) {
                sum += leftTile[ty][i] * rightTile[i][tx];
            }
            barrier();
        }
        result[y * k + x] = sum;
    }
}
