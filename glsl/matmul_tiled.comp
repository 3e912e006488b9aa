#version 450

// Matrix product over square tiles in workgroup memory, one invocation per element of the result.
//
//   left   m rows of n     right  n rows of k     result  m rows of k     (all row by row)
//
// Every invocation of a workgroup loads one element of each tile and reaches every barrier, also those beyond the
// edges of the result. What a tile holds beyond the edge of its matrix is zero and adds nothing to a sum.

#define TILE 16

layout(local_size_x = TILE, local_size_y = TILE, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) buffer Result { float result[]; };

layout(push_constant) uniform Sizes {
    uint m;
    uint n;
    uint k;
};

shared float leftTile[TILE][TILE];
shared float rightTile[TILE][TILE];

// Whether a matrix of this many rows and columns has an element there.
bool inside(uint row, uint column, uint rows, uint columns) {
    return row < rows && column < columns;
}

void main() {
    uint column = gl_WorkGroupID.x * TILE + gl_LocalInvocationID.x;
    uint row = gl_WorkGroupID.y * TILE + gl_LocalInvocationID.y;
    uint tileColumn = gl_LocalInvocationID.x;
    uint tileRow = gl_LocalInvocationID.y;

    // The last tile may be a partial one.
    uint tiles = n / TILE + (n % TILE != 0u ? 1u : 0u);
    float sum = 0.0;

    // The number of tiles is the same for all invocations: both barriers stand in uniform control flow.
    for (uint tile = 0u; tile < tiles; ++tile) {
        uint leftColumn = tile * TILE + tileColumn;
        uint rightRow = tile * TILE + tileRow;
        leftTile[tileRow][tileColumn] = inside(row, leftColumn, m, n) ? left[row * n + leftColumn] : 0.0;
        rightTile[tileRow][tileColumn] = inside(rightRow, column, n, k) ? right[rightRow * k + column] : 0.0;
        barrier();

        for (uint i = 0u; i < TILE; ++i) {
            sum += leftTile[tileRow][i] * rightTile[i][tileColumn];
        }
        barrier();
    }

    if (inside(row, column, m, k)) {
        result[row * k + column] = sum;
    }
}
