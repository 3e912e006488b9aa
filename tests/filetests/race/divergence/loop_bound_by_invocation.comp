#version 450
//! buffer 0 uint 1 2 3 4
//! completion error
//! finding barrier-divergence 13
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    uint sum = 0;
    for (uint k = i; k < 4; k++) {
        barrier();
        sum += i;
    }
    d[i] = sum;
}
