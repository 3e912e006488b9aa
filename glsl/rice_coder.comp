#version 450

// Adaptive Rice coder for blocks of 16 samples, one workgroup per block.
//
//   samples   count samples of `resolution` bits     codes     SLOT words per block, of which the first hold its code
//   lengths   bits of each block's code              clipped   is increased by the number of samples above the range
//
// A sample is predicted by the one before, at the start of every `interval` blocks by the middle of the range. A code starts
// with the option that makes it shortest: no bits where every prediction is right, a Rice code with 0 to 13 split bits, or
// whole residuals. Its bits stand from the highest one of each word to the lowest.

#define BLOCK 16
#define SLOT 9
#define OPTION_BITS 4u

#define OPTION_ZERO 0u
#define OPTION_WHOLE 15u

// More than any block needs, so that no block is coded with bits that say too little.
#define TOO_LONG 1024u

layout(local_size_x = BLOCK, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Samples { uint samples[]; };
layout(std430, set = 0, binding = 1) buffer Codes { uint codes[]; };
layout(std430, set = 0, binding = 2) buffer Lengths { uint lengths[]; };
layout(std430, set = 0, binding = 3) buffer Clipped { uint clipped; };

layout(push_constant) uniform Parameters {
    uint count;
    uint resolution;
    uint interval;
};

shared uint residuals[BLOCK];
shared uint costs[BLOCK];
shared uint words[SLOT];

uint distanceOf(uint value, uint predicted) {
    return value < predicted ? predicted - value : value - predicted;
}

// A number without sign for the difference from the prediction: within the reach that both signs have in the range they
// take turns, beyond it there is only one.
uint residualOf(uint value, uint predicted, uint largest) {
    uint reach = min(predicted, largest - predicted);
    uint distance = distanceOf(value, predicted);
    if (distance > reach) {
        return reach + distance;
    }
    return value < predicted ? 2u * distance - 1u : 2u * distance;
}

// Bits of a residual's code.
uint codeLength(uint residual, uint option) {
    if (option == OPTION_ZERO) {
        return residual == 0u ? 0u : TOO_LONG;
    }
    return option == OPTION_WHOLE ? resolution : (residual >> (option - 1u)) + option;
}

// Puts the lowest `width` bits of a value, at most 16, into the words from a bit on.
void putBits(uint start, uint width, uint value) {
    uint word = start / 32u;
    uint end = start % 32u + width;
    if (end <= 32u) {
        atomicOr(words[word], value << (32u - end));
    } else {
        atomicOr(words[word], value >> (end - 32u));
        atomicOr(words[word + 1u], value << (64u - end));
    }
}

void main() {
    uint block = gl_WorkGroupID.x;
    uint first = block * BLOCK;
    // The same for all invocations of a workgroup, so that all barriers stand in uniform control flow.
    if (first >= count || resolution == 0u || resolution > 16u || interval == 0u) {
        return;
    }

    uint lane = gl_LocalInvocationID.x;
    uint present = min(count - first, BLOCK);
    uint largest = (1u << resolution) - 1u;
    if (lane < present) {
        uint predicted = (largest + 1u) / 2u;
        if (lane > 0u || block % interval > 0u) {
            predicted = min(samples[first + lane - 1u], largest);
        }
        uint value = samples[first + lane];
        if (value > largest) {
            atomicAdd(clipped, 1u);
            value = largest;
        }
        residuals[lane] = residualOf(value, predicted, largest);
    }
    if (lane < SLOT) {
        words[lane] = 0u;
    }
    barrier();

    // Each invocation tries one option.
    uint cost = 0u;
    for (uint i = 0u; i < present; ++i) {
        cost += codeLength(residuals[i], lane);
    }
    costs[lane] = cost;
    barrier();

    uint option = OPTION_ZERO;
    for (uint candidate = 1u; candidate < BLOCK; ++candidate) {
        if (costs[candidate] < costs[option]) {
            option = candidate;
        }
    }

    if (lane == 0u) {
        putBits(0u, OPTION_BITS, option);
        lengths[block] = OPTION_BITS + costs[option];
    }
    if (lane < present && option != OPTION_ZERO) {
        uint end = OPTION_BITS;
        for (uint i = 0u; i <= lane; ++i) {
            end += codeLength(residuals[i], option);
        }
        if (option == OPTION_WHOLE) {
            putBits(end - resolution, resolution, residuals[lane]);
        } else {
            // Zeros, as many as the value without its split bits says, a one, and the split bits.
            uint split = 1u << (option - 1u);
            putBits(end - option, option, split | (residuals[lane] & (split - 1u)));
        }
    }
    barrier();

    if (lane * 32u < OPTION_BITS + costs[option]) {
        codes[block * SLOT + lane] = words[lane];
    }
}
