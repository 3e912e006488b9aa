#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 3 3 3 3
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint mine = 0;
    s[i] = 1;
    for (uint k = 0; k < 4; k++) {
        barrier();
        if (k == i) continue;
        mine += s[k];
    }
    into[i] = mine;
}
