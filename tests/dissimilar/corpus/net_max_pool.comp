#version 450
//! buffer 0 float 1 5 2 8 3 3 9 1 4 4 4 4 0 -1 -2 7
//! buffer 1 float 0*4
layout(local_size_x = 2, local_size_y = 2) in;
layout(binding = 0) buffer X { float x[4][4]; };
layout(binding = 1) buffer Y { float y[2][2]; };
void main() {
    uvec2 o = gl_LocalInvocationID.xy;
    float best = x[o.y * 2][o.x * 2];
    for (uint k = 1u; k < 4u; ++k) best = max(best, x[o.y * 2 + (k >> 1)][o.x * 2 + (k & 1u)]);
    y[o.y][o.x] = best;
}
