#version 450
//! subgroup-size 4
//! buffer 0 uint 0*4
//! expect 0 uint 1 2 3 0
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    subgroupBarrier();
    into[i] = s[(i + 1) & 3u];
}
