#version 450
// The invocation that does not take part is not ordered; that is no divergence of the workgroup.
//! subgroup-size 4
//! buffer 0 uint 0*4
//! finding data-race 13 15
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    if (i < 3) subgroupBarrier();
    if (i < 3) into[i] = s[i + 1];
}
