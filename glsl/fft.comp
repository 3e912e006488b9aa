#version 450

// Discrete Fourier transform of complex rows (radix 2, decimation in time), one workgroup per row.
//
//   signal     rows of points complex numbers, (real part, imaginary part)
//   factors    points / 2 complex numbers; number i is (cos(2 pi i / points), -sin(2 pi i / points))
//   spectrum   rows of points complex numbers
//
// points is 2 to the power `stages`, at most MAX_POINTS. Where `inverse` is not zero the inverse transform is made: with
// conjugated factors, and divided by the number of points.

#define LANES 8
#define MAX_STAGES 5u
#define MAX_POINTS 32

layout(local_size_x = LANES, local_size_y = 1, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Signal { vec2 signal[]; };
layout(std430, set = 0, binding = 1) readonly buffer Factors { vec2 factors[]; };
layout(std430, set = 0, binding = 2) buffer Spectrum { vec2 spectrum[]; };

layout(push_constant) uniform Parameters {
    uint rows;
    uint stages;
    uint inverse;
};

shared vec2 values[MAX_POINTS];

// Precise: each product is rounded, wherever the kernel runs. A device may else join a product and a sum, in one build of the
// kernel and not in another.
vec2 complexProduct(vec2 left, vec2 right) {
    precise vec2 product = vec2(left.x * right.x - left.y * right.y, left.x * right.y + left.y * right.x);
    return product;
}

// The place with the last `stages` bits in the opposite order.
uint reversedPlace(uint place) {
    return stages == 0u ? 0u : bitfieldReverse(place) >> (32u - stages);
}

void main() {
    // The same for all invocations of a workgroup, so that all barriers stand in uniform control flow.
    if (gl_WorkGroupID.x >= rows || stages > MAX_STAGES) {
        return;
    }

    uint lane = gl_LocalInvocationID.x;
    uint points = 1u << stages;
    uint rowStart = gl_WorkGroupID.x * points;
    for (uint place = lane; place < points; place += LANES) {
        values[reversedPlace(place)] = signal[rowStart + place];
    }
    barrier();

    for (uint stage = 0u; stage < stages; ++stage) {
        uint reach = 1u << stage;
        for (uint butterfly = lane; butterfly < points / 2u; butterfly += LANES) {
            uint offset = butterfly % reach;
            uint upper = (butterfly - offset) * 2u + offset;
            vec2 factor = factors[offset * (points / 2u / reach)];
            if (inverse != 0u) {
                factor.y = -factor.y;
            }
            vec2 turned = complexProduct(factor, values[upper + reach]);
            values[upper + reach] = values[upper] - turned;
            values[upper] += turned;
        }
        barrier();
    }

    float scale = inverse != 0u ? 1.0 / float(points) : 1.0;
    for (uint place = lane; place < points; place += LANES) {
        spectrum[rowStart + place] = values[place] * scale;
    }
}
