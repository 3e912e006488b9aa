#version 450
//! buffer 0 uint 0*4
//! completion error
//! finding barrier-divergence 13 13
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint mine = 0;
    for (uint k = 0; k < 4; k++) {
        if (k == i) continue;
        barrier();
        mine++;
    }
    into[i] = mine;
}
