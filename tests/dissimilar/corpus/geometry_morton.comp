#version 450
//! buffer 0 uint 1 2 3 7 5 0
//! buffer 1 uint 0 0
layout(local_size_x = 2) in;
struct Point { uint x, y, z; };
layout(binding = 0) buffer P { Point points[]; };
layout(binding = 1) buffer M { uint codes[]; };
uint spread(uint v) { v = (v * 0x00010001u) & 0xFF0000FFu; v = (v * 0x00000101u) & 0x0F00F00Fu; v = (v * 0x00000011u) & 0xC30C30C3u; return (v * 5u) & 0x49249249u; }
void main() {
    Point p = points[gl_LocalInvocationID.x];
    codes[gl_LocalInvocationID.x] = spread(p.x) << 2 | spread(p.y) << 1 | spread(p.z);
}
