#version 450
// Counts per class with atomics, in workgroup memory first.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) buffer Counts { uint counts[64]; };
layout(push_constant) uniform Parameters { uint count; };
shared uint bins[64];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint local = gl_LocalInvocationID.x;
    bins[local] = 0u;
    barrier();
    for (uint k = 0u; k < 16u; k++) {
        uint i = (group * 16u + k) * 64u + local;
        if (i < count) {
            uint value = words[i];
            if (value >= 0x80000000u) {
                atomicAdd(bins[32u + (value & 31u)], 1u);
            } else {
                atomicAdd(bins[value & 31u], 1u);
            }
        }
    }
    barrier();
    if (bins[local] != 0u) {
        atomicAdd(counts[local], bins[local]);
    }
}
