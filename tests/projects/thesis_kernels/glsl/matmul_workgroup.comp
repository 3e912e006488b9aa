#version 450

// Product of two square matrices of `size` rows, one invocation per element, over tiles in workgroup memory.

#define TILE 8

layout(local_size_x = TILE, local_size_y = TILE) in;

layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Parameters {
    uint size;
};

shared float leftTile[TILE][TILE];
shared float rightTile[TILE][TILE];

void main() {
    uint x = gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    uint tiles = (size + TILE - 1u) / TILE;

    float sum = 0.0;
    for (uint tile = 0u; tile < tiles; tile++) {
        uint across = tile * TILE + x;
        uint down = tile * TILE + y;
        leftTile[y][x] = row < size && across < size ? left[row * size + across] : 0.0;
        rightTile[y][x] = down < size && column < size ? right[down * size + column] : 0.0;
        barrier();
        for (uint i = 0u; i < TILE; i++) {
            sum += leftTile[y][i] * rightTile[i][x];
        }
        barrier();
    }

    if (row < size && column < size) {
        result[row * size + column] = sum;
    }
}
