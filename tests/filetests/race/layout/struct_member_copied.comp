#version 450
//! buffer 0 float 1 2 3 4 5 6 7 8
//! buffer 1 float 0*4
//! expect 1 float 2 6
struct Cell { float mass; float speed; vec2 at; };
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Cells { Cell cells[2]; };
layout(std430, set=0, binding=1) buffer Into { float into[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    cells[i].mass = 0.0;
    into[i] = cells[i].speed;
}
