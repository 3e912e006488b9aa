#version 450
//! buffer 0 float 0*8
//! expect 0 float 5 5 5 1 5 5 5 1
struct Item { vec3 position; float weight; };
layout(local_size_x=2, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer Items { Item items[2]; };
void main() {
    uvec2 at = gl_LocalInvocationID.xy;
    if (at.x == 0) items[at.y].position = vec3(5.0);
    else items[at.y].weight = 1.0;
}
