#version 450
//! buffer 0 uint 0*8
//! expect 0 uint 1 2 3 4 5 6 7 0
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    barrier();
    uint next = s[(i + 1) & 7u];
    into[i] = next;
}
