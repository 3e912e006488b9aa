#version 450
//! buffer 0 uint 3 9 2 9
//! completion error
//! finding barrier-divergence 14
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint busy;
void main() {
    uint i = gl_LocalInvocationIndex;
    uint left = d[i];
    for (uint k = 0; k < 3; k++) {
        if (left < 3) break;
        left -= 3;
        barrier();
    }
    d[i] = left;
}
