#version 450
//! buffer 0 uint 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
//! buffer 1 uint 0*16
//! finding data-race 12 13
//! unordered
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) writeonly buffer Into { uint into[]; };
shared uint tile[4][4];
void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    tile[y][x] = from[y * 4 + x];
    into[y * 4 + x] = tile[x][y];
}
