#version 450
//! buffer 0 float 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
//! buffer 1 float 1 0 0 0 0 2 0 0 0 0 3 0 0 0 0 4
//! buffer 2 float 0*16
//! groups 2 2 1
#define TILE 2
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
shared float tile_a[TILE][TILE], tile_b[TILE][TILE];
void main() {
    const uint n = 4, row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;
    const uint y = gl_LocalInvocationID.y, x = gl_LocalInvocationID.x;
    float sum = 0.0;
    for (uint t = 0; t < n; t += TILE) {
        tile_a[y][x] = a[row * n + t + x];
        tile_b[y][x] = b[(t + y) * n + column];
        barrier();
        for (uint k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
        barrier();
    }
    c[row * n + column] = sum;
}
