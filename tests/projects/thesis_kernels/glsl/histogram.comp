#version 450

// Histogram of samples in BINS bins of 2^shift values each. Samples beyond the last bin are counted in `beyond`.
//
// Each workgroup counts in workgroup memory and adds its counts to those in the buffer, which keep what they held.

#define GROUP 64
#define BINS 32

layout(local_size_x = GROUP) in;

layout(std430, set = 0, binding = 0) readonly buffer Samples { uint samples[]; };
layout(std430, set = 0, binding = 1) buffer Counts {
    uint beyond;
    uint counts[BINS];
};

layout(push_constant) uniform Parameters {
    uint count;
    uint shift;
};

shared uint groupCounts[BINS];

void main() {
    uint lane = gl_LocalInvocationID.x;
    if (lane < BINS) {
        groupCounts[lane] = 0u;
    }
    barrier();

    // The workgroups take the samples in turn.
    uint stride = gl_NumWorkGroups.x * GROUP;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += stride) {
        uint bin = samples[i] >> shift;
        if (bin < BINS) {
            atomicAdd(groupCounts[bin], 1u);
        } else {
            atomicAdd(beyond, 1u);
        }
    }
    barrier();

    if (lane < BINS) {
        atomicAdd(counts[lane], groupCounts[lane]);
    }
}
