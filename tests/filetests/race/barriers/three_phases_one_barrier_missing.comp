#version 450
//! buffer 0 uint 0*4
//! finding data-race 12 13
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint a[4], b[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    a[i] = i;
    barrier();
    b[i] = a[i ^ 1u] + 4;
    into[i] = b[i ^ 3u];
}
