#version 450
// The last step relies on invocations that run in lockstep.
//! buffer 0 float 0 0.5 1 1.5 2 2.5 3 3.5 4 4.5 5 5.5 6 6.5 7 7.5
//! buffer 1 float 0
//! finding data-race 17 18
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Sum { float total; };
shared float s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = from[i] + from[i + 8];
    barrier();
    if (i < 4) s[i] += s[i + 4];
    barrier();
    if (i < 2) s[i] += s[i + 2];
    if (i < 1) s[i] += s[i + 1];
    if (i == 0) total = s[0];
}
