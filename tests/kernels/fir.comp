#version 450

// Finite impulse response filter, every `decimation`-th output kept. Coefficients are symmetric: the first half is given, and
// for an odd count the middle one is used once. Samples before the first are zero.

layout(constant_id = 3) const uint TAPS = 5u;

layout(local_size_x = 8) in;

layout(std430, set = 0, binding = 0) readonly buffer Samples { float samples[]; };
layout(std430, set = 0, binding = 1) readonly buffer Coefficients { float coefficients[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Filtered { float filtered[]; };

layout(push_constant) uniform Parameters {
    uint count;
    uint decimation;
};

float delayed(uint now, uint delay) {
    return delay > now ? 0.0 : samples[now - delay];
}

void main() {
    uint kept = gl_GlobalInvocationID.x;
    uint now = kept * decimation;
    if (now >= count) {
        return;
    }
    float sum = 0.0;
    uint tap = 0u;
    do {
        uint mirror = TAPS - 1u - tap;
        if (tap == mirror) {
            sum += coefficients[tap] * delayed(now, tap);
            break;
        }
        sum += coefficients[tap] * (delayed(now, tap) + delayed(now, mirror));
        ++tap;
    } while (tap < (TAPS + 1u) / 2u);
    filtered[kept] = sum;
}
