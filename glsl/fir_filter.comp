#version 450

// Finite impulse response filter with decimation, in fixed point, one invocation per result.
//
//   samples        taps - 1 samples of the past, then those of the interval; 16-bit numbers
//   coefficients   taps numbers of 1/32768; the first belongs to the newest sample
//   filtered       count results, one for every `stride` samples
//
// Sums are exact in 32 bits as long as the magnitudes of the coefficients add up to at most 65535.

#define GROUP 16
#define MAX_TAPS 32
#define FRACTION_BITS 15
#define HALF (1 << (FRACTION_BITS - 1))
#define LOWEST (-32768)
#define HIGHEST 32767

layout(local_size_x = GROUP, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Samples { int samples[]; };
layout(std430, set = 0, binding = 1) readonly buffer Coefficients { int coefficients[]; };
layout(std430, set = 0, binding = 2) buffer Filtered { int filtered[]; };

layout(push_constant) uniform Parameters {
    uint count;
    uint taps;
    uint stride;
};

shared int groupCoefficients[MAX_TAPS];

// The nearest integer to a sum of 1/32768, halves upwards, within 16 bits.
int roundedSample(int sum) {
    int whole = (sum + HALF) >> FRACTION_BITS;
    if (whole < LOWEST) {
        return LOWEST;
    }
    if (whole > HIGHEST) {
        return HIGHEST;
    }
    return whole;
}

void main() {
    // The same for all invocations, so that the barrier stands in uniform control flow.
    if (taps > MAX_TAPS) {
        return;
    }

    for (uint tap = gl_LocalInvocationID.x; tap < taps; tap += GROUP) {
        groupCoefficients[tap] = coefficients[tap];
    }
    barrier();

    uint place = gl_GlobalInvocationID.x;
    if (place < count) {
        int sum = 0;
        for (uint tap = 0u; tap < taps; ++tap) {
            sum += groupCoefficients[tap] * samples[place * stride + taps - 1u - tap];
        }
        filtered[place] = roundedSample(sum);
    }
}
