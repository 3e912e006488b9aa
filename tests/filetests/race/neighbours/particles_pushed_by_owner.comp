#version 450
//! buffer 0 float 0 0 1 0 3 0 7 0
//! expect 0 float 0 1 1 2 3 4 7 0
struct Particle { float at; float push; };
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Particles { Particle p[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 3) return;
    float distance = p[i + 1].at - p[i].at;
    p[i].push += distance;
}
