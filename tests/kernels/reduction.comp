#version 450

// Sum and largest value of each workgroup's share of the input, by a tree in workgroup memory. The sum over all workgroups
// is added atomically to `total[0]`, the largest value overall stands in `total[1]`.

#define LOCAL 32

layout(local_size_x = LOCAL) in;

layout(std430, set = 0, binding = 0) readonly buffer Input { int values[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Sums { int sums[]; };
layout(std430, set = 0, binding = 2) buffer Total { int total[]; };

layout(push_constant) uniform Parameters {
    uint count;
};

shared int sumTree[LOCAL];
shared int maxTree[LOCAL];

const int LOWEST = -2147483647 - 1;

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint i = gl_GlobalInvocationID.x;
    bool present = i < count;
    sumTree[lane] = present ? values[i] : 0;
    maxTree[lane] = present ? values[i] : LOWEST;
    barrier();

    for (uint stride = LOCAL / 2u; stride > 0u; stride >>= 1u) {
        if (lane < stride) {
            sumTree[lane] += sumTree[lane + stride];
            maxTree[lane] = max(maxTree[lane], maxTree[lane + stride]);
        }
        barrier();
    }

    if (lane == 0u) {
        sums[gl_WorkGroupID.x] = sumTree[0];
        atomicAdd(total[0], sumTree[0]);
        atomicMax(total[1], maxTree[0]);
    }
}
