#version 450
//! buffer 0 float 1 2 3 4 5 6 7 8
//! finding data-race 9 9
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { vec4 v[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    vec2 taken = v[1 - i].xy; v[i].x = taken.x; v[i].y = taken.y;
}
