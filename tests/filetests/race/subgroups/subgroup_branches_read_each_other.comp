#version 450
//! subgroup-size 4
//! buffer 0 uint 0*4
//! finding data-race 15 20
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = 0;
    barrier();
    if (i < 2) {
        s[i] = i;
        subgroupBarrier();
        into[i] = s[1 - i];
    } else {
        subgroupBarrier();
        into[i] = s[i - 2];
    }
}
