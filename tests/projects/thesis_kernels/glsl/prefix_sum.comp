#version 450

// Exclusive prefix sums of blocks of 128 numbers, one block for each workgroup, and the sum of each block.
//
// Each invocation has two numbers. A tree of sums is built up in workgroup memory and then taken down.

#define GROUP 64
#define BLOCK (2 * GROUP)

layout(local_size_x = GROUP) in;

layout(std430, set = 0, binding = 0) readonly buffer Values { uint values[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Prefixes { uint prefixes[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Totals { uint totals[]; };

layout(push_constant) uniform Parameters {
    uint count;
};

shared uint sums[BLOCK];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint first = gl_WorkGroupID.x * BLOCK + lane;
    uint second = first + GROUP;
    sums[lane] = first < count ? values[first] : 0u;
    sums[lane + GROUP] = second < count ? values[second] : 0u;

    uint reach = 1u;
    for (uint pairs = GROUP; pairs > 0u; pairs /= 2u) {
        barrier();
        if (lane < pairs) {
            uint low = reach * (2u * lane + 1u) - 1u;
            sums[low + reach] += sums[low];
        }
        reach *= 2u;
    }

    if (lane == 0u) {
        totals[gl_WorkGroupID.x] = sums[BLOCK - 1];
        sums[BLOCK - 1] = 0u;
    }

    for (uint pairs = 1u; pairs <= GROUP; pairs *= 2u) {
        reach /= 2u;
        barrier();
        if (lane < pairs) {
            uint low = reach * (2u * lane + 1u) - 1u;
            uint kept = sums[low];
            sums[low] = sums[low + reach];
            sums[low + reach] += kept;
        }
    }
    barrier();

    if (first < count) {
        prefixes[first] = sums[lane];
    }
    if (second < count) {
        prefixes[second] = sums[lane + GROUP];
    }
}
