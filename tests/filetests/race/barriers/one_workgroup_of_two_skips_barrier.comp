#version 450
//! groups 2 1 1
//! buffer 0 uint 0*8
//! finding data-race 13 15
//! detail data-race reach within-workgroup
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint base = gl_WorkGroupID.x * 4;
    s[i] = base + i;
    if (gl_WorkGroupID.x == 0) barrier();
    into[base + i] = s[i ^ 1u];
}
