#version 450
//! spec 3 0
//! buffer 0 int 0*8
//! finding data-race 12 14
//! unordered
layout(local_size_x=8) in;
layout(constant_id = 3) const int BARRIERS = 1;
layout(std430, set=0, binding=0) buffer Into { int into[]; };
shared int s[8];
void main() {
    int i = int(gl_LocalInvocationIndex);
    s[i] = i;
    for (int k = 0; k < BARRIERS; k++) barrier();
    into[i] = s[7 - i];
}
