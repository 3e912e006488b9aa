#version 450
//! subgroup-size 2
//! buffer 0 uint 0*8
//! finding data-race 12 15
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    subgroupBarrier();
    // Right where subgroups have eight invocations.
    into[i] = s[(i + 4) & 7u];
}
