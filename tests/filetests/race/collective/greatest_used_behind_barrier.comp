#version 450
//! buffer 0 uint 8 2 4 6
//! expect 0 uint 0 6 4 2
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint most;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) most = 0;
    barrier();
    atomicMax(most, d[i]);
    barrier();
    d[i] = most - d[i];
}
