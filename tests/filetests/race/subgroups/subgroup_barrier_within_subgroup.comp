#version 450
//! subgroup-size 4
//! buffer 0 uint 0*8
//! expect 0 uint 3 2 1 0 7 6 5 4
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    subgroupBarrier();
    into[i] = s[i ^ 3u];
}
