#version 450
//! buffer 0 uint 0*8
//! finding data-race 11 12
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    barrier();
    s[i] = i;
    uint next = s[(i + 1) & 7u];
    into[i] = next;
}
