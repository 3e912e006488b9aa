#version 450
//! sequential-only
//! steps 2000000
//! groups 2 1 1
//! buffer 0 uint 0
//! buffer 1 uint 0*2
//! buffer 2 uint 0*2
//! finding data-race 17 20
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Arrived { uint arrived; };
layout(std430, set=0, binding=1) coherent buffer Data { uint d[]; };
layout(std430, set=0, binding=2) buffer Into { uint into[]; };
void main() {
    uint group = gl_WorkGroupID.x;
    d[group] = group + 1;
    atomicAdd(arrived, 1u);
    while (atomicOr(arrived, 0u) < 2u) {}
    into[group] = d[1 - group];
}
