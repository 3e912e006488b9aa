#version 450
// The sum of each workgroup's words, by halving in workgroup memory.
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };
layout(push_constant) uniform Parameters { uint count; };
shared uint partial[256];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint local = gl_LocalInvocationID.x;
    uint sum = 0u;
    for (uint k = 0u; k < 32u; k++) {
        uint i = (group * 32u + k) * 256u + local;
        if (i < count) {
            sum += words[i];
        }
    }
    partial[local] = sum;
    barrier();
    for (uint half_size = 128u; half_size > 0u; half_size >>= 1) {
        if (local < half_size) {
            partial[local] += partial[local + half_size];
        }
        barrier();
    }
    if (local == 0u) {
        sums[group] = partial[0];
    }
}
