#version 450
//! buffer 0 uint 0 1 4 9 16 25 36 49 64 81
//! buffer 1 uint 0*8
//! finding data-race 13 14
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint s[10];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) { s[0] = from[0]; s[9] = from[9]; }
    s[i + 1] = from[i + 1];
    if (i > 0 && i < 7) into[i] = s[i] + s[i + 2];
}
