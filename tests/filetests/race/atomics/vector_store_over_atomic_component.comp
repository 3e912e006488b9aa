#version 450
//! buffer 0 uint 0*4
//! finding data-race 10 9
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uvec4 v; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) v = uvec4(2);
    else atomicAdd(v.x, 1u);
}
