#version 450

// One step of heat conduction on a grid: each inner cell becomes the mean of its four neighbours, cells at the edge keep
// their value. A workgroup loads its tile with a border of one cell into workgroup memory.

#define SIDE 4
#define PADDED (SIDE + 2)

layout(local_size_x = SIDE, local_size_y = SIDE) in;

layout(std430, set = 0, binding = 0) readonly buffer Before { float before[]; };
layout(std430, set = 0, binding = 1) writeonly buffer After { float after[]; };

layout(push_constant) uniform Parameters {
    int width;
    int height;
};

shared float tile[PADDED][PADDED];

void load(int tileX, int tileY) {
    int x = int(gl_WorkGroupID.x) * SIDE + tileX - 1;
    int y = int(gl_WorkGroupID.y) * SIDE + tileY - 1;
    bool exists = x >= 0 && y >= 0 && x < width && y < height;
    tile[tileY][tileX] = exists ? before[y * width + x] : 0.0;
}

void main() {
    int lx = int(gl_LocalInvocationID.x);
    int ly = int(gl_LocalInvocationID.y);
    // 16 invocations load 36 cells.
    int cell = int(gl_LocalInvocationIndex);
    while (cell < PADDED * PADDED) {
        load(cell % PADDED, cell / PADDED);
        cell += SIDE * SIDE;
    }
    barrier();

    int x = int(gl_GlobalInvocationID.x);
    int y = int(gl_GlobalInvocationID.y);
    if (x >= width || y >= height) {
        return;
    }
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    int tx = lx + 1;
    int ty = ly + 1;
    after[y * width + x] =
        edge ? tile[ty][tx] : 0.25 * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}
