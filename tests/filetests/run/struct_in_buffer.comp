#version 450
//! buffer 0 uint 1 2 3 9 4 5 6 9
//! expect 0 uint 1 2 3 6 4 5 6 15
layout(local_size_x=2) in;
struct S { uvec3 v; uint sum; };
layout(std430, set=0, binding=0) buffer R { S s[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    S one = s[i];
    s[i].sum = one.v.x + one.v.y + one.v.z;
}
