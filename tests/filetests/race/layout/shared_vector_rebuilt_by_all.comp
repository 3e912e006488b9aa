#version 450
//! buffer 0 float 0*4
//! finding data-race 11 11
//! detail data-race memory workgroup
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { vec4 into; };
shared vec4 v;
void main() {
    uint i = gl_LocalInvocationIndex;
    vec4 one = vec4(0.0); one[i] = float(i + 1); v = one;
    barrier();
    if (i == 0) into = v;
}
