#version 450
//! buffer 0 uint 0 1 0 0 0 1 0 0 0 1 0 0 0 0 0 0
//! finding data-race 24 9
//! unordered
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=0) buffer Board { uint board[]; };
shared uint cells[4][4];
uint alive(uint x, uint y) {
    return cells[y & 3u][x & 3u];
}
uint neighbours(uint x, uint y) {
    uint count = 0;
    for (uint dy = 3; dy <= 5; dy++)
        for (uint dx = 3; dx <= 5; dx++)
            if (dx != 4 || dy != 4) count += alive(x + dx, y + dy);
    return count;
}
void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    cells[y][x] = board[y * 4 + x];
    barrier();
    for (int generation = 0; generation < 2; generation++) {
        uint around = neighbours(x, y);
        cells[y][x] = uint(around == 3);
        barrier();
    }
    board[y * 4 + x] = cells[y][x];
}
