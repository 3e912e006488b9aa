#version 450
//! subgroup-size 4
//! buffer 0 uint 1 2 3 4
//! finding data-race 16 14
//! unordered
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint sum = 0;
    for (uint k = 0; k < 4; k++) {
        s[i] = d[i];
        subgroupBarrier();
        sum += s[(i + k) & 3u];
    }
    d[i] = sum;
}
