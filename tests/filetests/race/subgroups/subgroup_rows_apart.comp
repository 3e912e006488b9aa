#version 450
//! subgroup-size 4
//! buffer 0 uint 0*16
//! expect 0 uint 3 2 1 0 7 6 5 4 11 10 9 8 15 14 13 12
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x=4, local_size_y=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[16]; };
shared uint s[4][4];
void main() {
    uvec2 at = gl_LocalInvocationID.xy;
    s[at.y][at.x] = 4 * at.y + at.x;
    subgroupBarrier();
    into[4 * at.y + at.x] = s[at.y][3 - at.x];
}
