#version 450
//! buffer 0 uint 1 0 1 1
//! completion error
//! finding barrier-divergence 12 15
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    if (d[i] != 0) {
        barrier();
        d[i] = s[i];
    }
}
