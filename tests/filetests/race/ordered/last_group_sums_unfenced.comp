#version 450
//! groups 3 1 1
//! buffer 0 uint 0 0
//! buffer 1 uint 0*3
//! finding data-race 13 16
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer Result { uint finished; uint total; };
layout(std430, set=0, binding=1) coherent buffer Partial { uint part[]; };
void main() {
    uint group = gl_WorkGroupID.x;
    part[group] = 10 * (group + 1);
    if (atomicAdd(finished, 1u) == gl_NumWorkGroups.x - 1) {
        uint sum = 0;
        for (uint k = 0; k < gl_NumWorkGroups.x; k++) sum += part[k];
        total = sum;
    }
}
