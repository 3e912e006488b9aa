#version 450
//! buffer 0 uint 0 1 2 3 4 5 6 7 8
//! finding data-race 14 15
//! finding data-race 13 15
//! finding data-race 14 14
//! unordered
layout(local_size_x=3, local_size_y=3) in;
layout(std430, set=0, binding=0) buffer Matrix { uint m[3][3]; };
void main() {
    uvec2 at = gl_LocalInvocationID.xy;
    if (at.x == at.y) return;
    // Both partners of a pair swap it.
    uint keep = m[at.y][at.x];
    m[at.y][at.x] = m[at.x][at.y];
    m[at.x][at.y] = keep;
}
