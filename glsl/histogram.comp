#version 450

// Histogram of integer samples: bins of equal width from `lowest` upwards.
//
// Each workgroup counts ITEMS samples per invocation into bins of its own in workgroup memory, and then adds them to
// the bins in the buffer, which keep what they held before. Samples that equal `gap` mark missing data and are never
// counted; samples outside the range are ignored, or counted in the nearest bin where `saturate` is not zero.

#define GROUP 16
#define ITEMS 4
#define MAX_BINS 32

layout(local_size_x = GROUP, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Samples { int samples[]; };
layout(std430, set = 0, binding = 1) buffer Counts { uint counts[]; };

layout(push_constant) uniform Parameters {
    uint sampleCount;
    int lowest;
    uint binWidth;
    uint binCount;
    int gap;
    uint saturate;
};

shared uint groupCounts[MAX_BINS];

// Whether a sample adds to a bin.
bool isCounted(int value, int highest) {
    return value != gap && (value >= lowest && value <= highest || saturate != 0u);
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint bins = min(binCount, MAX_BINS);
    int highest = lowest + int(bins * binWidth) - 1;

    for (uint bin = lane; bin < bins; bin += GROUP) {
        groupCounts[bin] = 0u;
    }
    barrier();

    uint first = gl_WorkGroupID.x * GROUP * ITEMS + lane;
    for (uint item = 0u; item < ITEMS && first + item * GROUP < sampleCount; ++item) {
        int value = samples[first + item * GROUP];
        if (isCounted(value, highest)) {
            uint bin = uint(clamp(value, lowest, highest) - lowest) / binWidth;
            atomicAdd(groupCounts[bin], 1u);
        }
    }
    barrier();

    // One addition per workgroup and bin, none for bins that stayed empty.
    for (uint bin = lane; bin < bins; bin += GROUP) {
        uint counted = groupCounts[bin];
        if (counted != 0u) {
            atomicAdd(counts[bin], counted);
        }
    }
}
