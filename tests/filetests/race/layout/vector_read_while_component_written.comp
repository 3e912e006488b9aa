#version 450
//! buffer 0 uint 1 2 3 4
//! buffer 1 uint 0*4
//! finding data-race 11 13
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Data { uvec4 v; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0)
        v.x = 9;
    else
        into = v.y + v.z + (v + 1u).w;
}
