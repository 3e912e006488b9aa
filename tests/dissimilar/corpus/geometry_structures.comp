#version 450
//! buffer 0 float 1 2 3 0 4 5 6 7 1 1 1 0 2 2 2 9
//! buffer 1 float 0*8
layout(local_size_x = 2) in;
struct Box { vec3 low; vec3 high; uint tag; };
layout(std430, binding = 0) buffer Boxes { Box boxes[]; };
layout(std430, binding = 1) buffer Sizes { vec4 sizes[]; };
vec3 extent(Box b) { return b.high - b.low; }
void main() {
    uint i = gl_LocalInvocationID.x;
    Box mine = boxes[i];
    Box both = Box(min(mine.low, vec3(0)), max(mine.high, 3.0), mine.tag + 1u);
    sizes[i] = vec4(extent(mine), float(both.tag));
    boxes[i] = both;
}
