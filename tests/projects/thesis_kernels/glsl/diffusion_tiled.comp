#version 450

// One step of diffusion on a grid, over a tile in workgroup memory that has a rim of one cell. Nothing flows through the
// edges of the grid: what would lie beyond an edge has the value of the cell at the edge.

#define TILE 8
#define SIDE (TILE + 2)

layout(local_size_x = TILE, local_size_y = TILE) in;

layout(std430, set = 0, binding = 0) readonly buffer Before { float before[]; };
layout(std430, set = 0, binding = 1) writeonly buffer After { float after[]; };

layout(push_constant) uniform Parameters {
    int width;
    int height;
    float rate;
};

shared float cells[SIDE][SIDE];

void main() {
    // The place of the tile's first cell, of the rim, in the grid.
    ivec2 corner = ivec2(gl_WorkGroupID.xy) * TILE - 1;

    for (int i = int(gl_LocalInvocationIndex); i < SIDE * SIDE; i += TILE * TILE) {
        int row = i / SIDE;
        int column = i % SIDE;
        int y = clamp(corner.y + row, 0, height - 1);
        int x = clamp(corner.x + column, 0, width - 1);
        cells[row][column] = before[y * width + x];
    }
    barrier();

    ivec2 place = ivec2(gl_GlobalInvocationID.xy);
    if (place.x < width && place.y < height) {
        ivec2 at = ivec2(gl_LocalInvocationID.xy) + 1;
        float here = cells[at.y][at.x];
        float flow = -4.0 * here;
        flow += cells[at.y - 1][at.x] + cells[at.y + 1][at.x] + cells[at.y][at.x - 1] + cells[at.y][at.x + 1];
        after[place.y * width + place.x] = here + rate * flow;
    }
}
