#version 450
// The pivot's row and column do not change in its step, but they are written while others read them.
//! buffer 0 uint 0 3 99 7 8 0 2 99 5 99 0 1 2 99 99 0
//! finding data-race 14 14
//! expect 0 uint 0 3 5 6 5 0 2 3 3 6 0 1 2 5 7 0
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=0) buffer Paths { uint d[4][4]; };
shared uint s[4][4];
void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    s[y][x] = d[y][x];
    barrier();
    for (uint k = 0; k < 4; k++) {
        s[y][x] = min(s[y][x], s[y][k] + s[k][x]);
        barrier();
    }
    d[y][x] = s[y][x];
}
