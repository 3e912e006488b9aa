#version 450

// Matrix product by tiles, where each invocation sums several elements of one column of the result.
//
//   left   m rows of n     right   n rows of k     result   m rows of k     (all row by row)
//
// A workgroup makes TILE columns and ROWS * TILE rows of the result. What its tiles hold beyond an edge is zero.

#define TILE 8
#define ROWS 2

layout(local_size_x = TILE, local_size_y = TILE) in;

layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Parameters {
    uint m;
    uint n;
    uint k;
};

shared float leftTile[ROWS * TILE][TILE];
shared float rightTile[TILE][TILE];

void main() {
    uint x = gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    uint column = gl_WorkGroupID.x * TILE + x;
    uint firstRow = gl_WorkGroupID.y * (ROWS * TILE) + y;

    float sums[ROWS];
    for (uint r = 0u; r < ROWS; ++r) {
        sums[r] = 0.0;
    }

    for (uint start = 0u; start < n; start += TILE) {
        for (uint r = 0u; r < ROWS; ++r) {
            uint row = firstRow + r * TILE;
            float element = 0.0;
            if (row < m && start + x < n) {
                element = left[row * n + start + x];
            }
            leftTile[r * TILE + y][x] = element;
        }
        float element = 0.0;
        if (start + y < n && column < k) {
            element = right[(start + y) * k + column];
        }
        rightTile[y][x] = element;
        barrier();

        for (uint i = 0u; i < TILE; ++i) {
            float factor = rightTile[i][x];
            for (uint r = 0u; r < ROWS; ++r) {
                sums[r] += leftTile[r * TILE + y][i] * factor;
            }
        }
        barrier();
    }

    for (uint r = 0u; r < ROWS; ++r) {
        uint row = firstRow + r * TILE;
        if (row < m && column < k) {
            result[row * k + column] = sums[r];
        }
    }
}
