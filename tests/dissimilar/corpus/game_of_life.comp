#version 450
//! buffer 0 uint 0 0 0 0 0 1 1 1 0 0 0 0 0 0 0 0
//! buffer 1 uint 0*16
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0) buffer A { uint cells[]; };
layout(binding = 1) buffer B { uint next[]; };
void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    uint alive = 0u;
    for (int dy = -1; dy <= 1; ++dy) for (int dx = -1; dx <= 1; ++dx) {
        if (dx == 0 && dy == 0) continue;
        ivec2 q = (p + ivec2(dx, dy) + 4) % 4;
        alive += cells[q.y * 4 + q.x];
    }
    bool live = cells[p.y * 4 + p.x] == 1u;
    next[p.y * 4 + p.x] = uint(alive == 3u || (live && alive == 2u));
}
