#version 450
//! push uint 5
//! buffer 0 uint 0*6
//! expect 0 uint 25 26 27 28 29 30
layout(local_size_x=6) in;
layout(push_constant) uniform P { uint n; };
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint base;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (gl_LocalInvocationID.x == 0) base = n * n;
    barrier();
    into[i] = base + i;
}
