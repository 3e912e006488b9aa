#version 450
//! buffer 0 float 0*8
//! finding data-race 10 11
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { vec4 v[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = i / 2;
    if (i % 2 == 0) v[at] = vec4(vec3(at + 1), 0.0);
    else v[at].w = 7.0;
}
