#version 450
//! buffer 0 uint 3 1 0 2
//! buffer 1 uint 0*4
//! finding data-race 14 15
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer Order { uint order[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint inverse[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    inverse[i] = 0;
    barrier();
    inverse[order[i]] = i;
    into[i] = inverse[i];
}
