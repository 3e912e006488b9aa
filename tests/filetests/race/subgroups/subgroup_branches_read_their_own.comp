#version 450
//! subgroup-size 4
//! buffer 0 uint 0*4
//! expect 0 uint 1 0 3 2
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 2) {
        s[i] = i;
        subgroupBarrier();
        into[i] = s[1 - i];
    } else {
        s[i] = i;
        subgroupBarrier();
        into[i] = s[5 - i];
    }
}
