#version 450
//! buffer 0 int 7 -3 5 2
//! buffer 1 int 100
//! finding data-race 11 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { int from[]; };
layout(std430, set=0, binding=1) buffer Least { int least; };
void main() {
    int mine = from[gl_LocalInvocationIndex];
    if (mine < least) least = mine;
}
