#version 450
//! groups 2 1 1
//! buffer 0 float 0*8
//! expect 0 float 1.5 0.5 3.5 2.5 1.5 0.5 3.5 2.5
//! spare 12
layout(local_size_x=2, local_size_y=2) in;
layout(std430, set=0, binding=0) buffer Into { float into[]; };
shared float s[2][2];
void main() {
    uvec2 at = gl_LocalInvocationID.xy;
    s[at.y][at.x] = float(2 * at.y + at.x) + 0.5;
    memoryBarrierShared();
    barrier();
    into[gl_WorkGroupID.x * 4 + at.y * 2 + at.x] = s[at.y][1 - at.x];
}
