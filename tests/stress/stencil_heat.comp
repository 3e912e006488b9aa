#version 450
// Explicit heat step with three kinds of border.
// groups: 2 2 1
// buffer: 0 float 256 random 9 0 100
// buffer: 1 float 256 zero
// push: {"size": [14, 15], "border": 1}
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer Old { float before[]; };
layout(std430, binding = 1) writeonly buffer New { float after[]; };
layout(push_constant) uniform Grid { ivec2 size; int border; };
float at(ivec2 p) {
    bool outside = any(lessThan(p, ivec2(0))) || any(greaterThanEqual(p, size));
    switch (border) {
        case 0: if (outside) return 0.0; break;
        case 1: p = clamp(p, ivec2(0), size - 1); break;
        default: p = (p + size) % size;
    }
    return before[p.y * size.x + p.x];
}
void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (p.x >= size.x || p.y >= size.y) return;
    float sum = 0.0;
    for (int d = 0; d < 4; ++d) sum += at(p + ivec2(d < 2 ? 2 * d - 1 : 0, d < 2 ? 0 : 2 * d - 5));
    float here = at(p), next = here + 0.125 * (sum - 4.0 * here);
    after[p.y * size.x + p.x] = next < 0.0 ? 0.0 : next > 100.0 ? 100.0 : next;
}
