#version 450
//! buffer 0 float 0 1 2 3 4 0 1 2 3 4 0 1 2 3 4 0
//! finding data-race 11 12
//! finding data-race 11 13
//! unordered
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=0) buffer Picture { float p[]; };
shared float rows[16];
void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y, at = y * 4 + x;
    rows[at] = 0.5 * (p[at] + p[y * 4 + (x + 1) % 4]);
    float sum = rows[at] + rows[(at + 4) % 16];
    p[at] = 0.5 * sum;
}
