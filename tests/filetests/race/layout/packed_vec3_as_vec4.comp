#version 450
//! buffer 0 float 0*8
//! finding data-race 10 11
//! unordered
struct Item { vec4 position; };
layout(local_size_x=2, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer Items { Item items[2]; };
void main() {
    uvec2 at = gl_LocalInvocationID.xy;
    if (at.x == 0) items[at.y].position = vec4(5.0);
    else items[at.y].position.w = 1.0;
}
