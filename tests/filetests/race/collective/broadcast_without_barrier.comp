#version 450
//! push uint 5
//! buffer 0 uint 0*6
//! finding data-race 12 13
//! unordered
layout(local_size_x=6) in;
layout(push_constant) uniform P { uint n; };
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint base;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (gl_LocalInvocationID.x == 0) base = n * n;
    into[i] = base + i;
}
