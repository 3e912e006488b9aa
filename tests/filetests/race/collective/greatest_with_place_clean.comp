#version 450
//! buffer 0 float 2 7 4 9
//! buffer 1 uint 0
//! expect 1 uint 3
struct Best { float value; uint at; };
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
shared Best best[4];
void keep(uint a, uint b) {
    if (best[b].value > best[a].value) best[a] = best[b];
}
void main() {
    uint i = gl_LocalInvocationIndex;
    best[i] = Best(from[i], i);
    barrier();
    if (i < 2) keep(i, i + 2);
    barrier();
    if (i == 0) keep(0, 1);
    if (i == 0) into = best[0].at;
}
