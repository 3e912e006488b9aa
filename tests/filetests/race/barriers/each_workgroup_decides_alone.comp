#version 450
//! groups 2 1 1
//! buffer 0 uint 0*8
//! expect 0 uint 1 0 3 2 5 4 7 6
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint base = gl_WorkGroupID.x * 4;
    s[i] = base + i;
    if (gl_WorkGroupID.x == 0) barrier(); else for (uint k = 0; k < 2; k++) barrier();
    into[base + i] = s[i ^ 1u];
}
