#version 450

// Transposes a matrix by tiles of 8 by 8, of which each invocation moves two elements. The tile has one column more than it
// needs, so that columns fall into different banks.

#define TILE 8
#define ROWS 4

layout(local_size_x = TILE, local_size_y = ROWS) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { uint target[]; };

layout(push_constant) uniform Parameters {
    uint rows;
    uint columns;
};

shared uint tile[TILE][TILE + 1];

void main() {
    uint lx = gl_LocalInvocationID.x;
    uint ly = gl_LocalInvocationID.y;

    uint column = gl_WorkGroupID.x * TILE + lx;
    for (uint offset = 0u; offset < TILE; offset += ROWS) {
        uint row = gl_WorkGroupID.y * TILE + ly + offset;
        if (row < rows && column < columns) {
            tile[ly + offset][lx] = source[row * columns + column];
        }
    }
    barrier();

    column = gl_WorkGroupID.y * TILE + lx;
    for (uint offset = 0u; offset < TILE; offset += ROWS) {
        uint row = gl_WorkGroupID.x * TILE + ly + offset;
        if (row < columns && column < rows) {
            target[row * rows + column] = tile[lx][ly + offset];
        }
    }
}
