#version 450
//! buffer 0 float 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
//! buffer 1 float 0*16
layout(local_size_x = 4, local_size_y = 4) in;
layout(std430, binding = 0) readonly buffer Source { float source[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };
const ivec2 SIZE = ivec2(4, 4);
const int RADIUS = 1;
float fetch(ivec2 at) { at = clamp(at, ivec2(0), SIZE - 1); return source[at.y * SIZE.x + at.x]; }
void main() {
    ivec2 here = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(here, SIZE))) return;
    float sum = 0;
    for (int y = -RADIUS; y <= RADIUS; ++y)
        for (int x = -RADIUS; x <= RADIUS; ++x) sum += fetch(here + ivec2(x, y));
    result[here.y * SIZE.x + here.x] = sum / float((2 * RADIUS + 1) * (2 * RADIUS + 1));
}
