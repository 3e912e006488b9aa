#version 450
// The same product, with tiles of both matrices in workgroup memory.
#define TILE 16
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Product { float product[]; };
layout(push_constant) uniform Parameters { uint rows; uint columns; uint inner; };
shared float leftTile[TILE][TILE];
shared float rightTile[TILE][TILE];

void main() {
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    uvec2 local = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint first = 0u; first < inner; first += TILE) {
        bool leftInside = row < rows && first + local.x < inner;
        leftTile[local.y][local.x] = leftInside ? left[row * inner + first + local.x] : 0.0;
        bool rightInside = column < columns && first + local.y < inner;
        rightTile[local.y][local.x] = rightInside ? right[(first + local.y) * columns + column] : 0.0;
        barrier();
        for (uint k = 0u; k < TILE; k++) {
            sum += leftTile[local.y][k] * rightTile[k][local.x];
        }
        barrier();
    }
    if (row < rows && column < columns) {
        product[row * columns + column] = sum;
    }
}
