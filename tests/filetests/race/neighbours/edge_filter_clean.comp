#version 450
//! buffer 0 int 0 1 4 9 5 3 3 5 9 4 1 0 1 4 9 5
//! buffer 1 int 0*16
//! expect 1 int 6 6 9 9 11 5 5 11 9 9 10 1 11 8 9 9
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=0) buffer Picture { int p[]; };
layout(std430, set=0, binding=1) buffer Edges { int e[]; };
int at(int x, int y) {
    return p[clamp(y, 0, 3) * 4 + clamp(x, 0, 3)];
}
void main() {
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    int edge = abs(at(x + 1, y) - at(x - 1, y)) + abs(at(x, y + 1) - at(x, y - 1));
    e[y * 4 + x] = edge;
}
