#version 450

// Exclusive prefix sum of packet lengths: the place at which each packet starts in the downlink buffer.
//
//   lengths   count lengths in bytes     starts   count places     total   the sum of all lengths
//
// One workgroup scans the list block by block in workgroup memory (Hillis and Steele) and carries the sum on to the
// next block. Sums stop at the largest 32-bit number. A packet that does not end within `capacity` starts NOWHERE.

#define BLOCK 16
#define LARGEST 0xFFFFFFFFu
#define NOWHERE 0xFFFFFFFFu

layout(local_size_x = BLOCK, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Lengths { uint lengths[]; };
layout(std430, set = 0, binding = 1) buffer Starts { uint starts[]; };
layout(std430, set = 0, binding = 2) buffer Total { uint total; };

layout(push_constant) uniform Parameters {
    uint count;
    uint capacity;
};

shared uint sums[BLOCK];

// The sum of two lengths, or the largest number where it has no room in 32 bits.
uint saturatedSum(uint left, uint right) {
    uint sum = left + right;
    return sum < left ? LARGEST : sum;
}

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint carried = 0u;

    // The number of blocks and steps is the same for all invocations: all barriers stand in uniform control flow.
    for (uint first = 0u; first < count; first += BLOCK) {
        uint place = first + lane;
        uint packetLength = 0u;
        if (place < count) {
            packetLength = lengths[place];
        }
        sums[lane] = packetLength;
        barrier();

        for (uint distance = 1u; distance < BLOCK; distance *= 2u) {
            uint before = 0u;
            if (lane >= distance) {
                before = sums[lane - distance];
            }
            barrier();
            sums[lane] = saturatedSum(sums[lane], before);
            barrier();
        }

        if (place < count) {
            uint start = carried;
            if (lane > 0u) {
                start = saturatedSum(carried, sums[lane - 1u]);
            }
            starts[place] = start <= capacity && packetLength <= capacity - start ? start : NOWHERE;
        }
        carried = saturatedSum(carried, sums[BLOCK - 1]);
        barrier();
    }

    if (lane == 0u) {
        total = carried;
    }
}
