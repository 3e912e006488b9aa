#version 450

// Sums of amplitude * sin(phase) and amplitude * cos(phase) for each workgroup, by a tree of sums in workgroup memory.

#define GROUP 64

layout(local_size_x = GROUP) in;

struct Wave {
    float amplitude;
    float phase;
};

layout(std430, set = 0, binding = 0) readonly buffer Waves { Wave waves[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Sums { vec2 sums[]; };

layout(push_constant) uniform Parameters {
    uint count;
};

shared float sines[GROUP];
shared float cosines[GROUP];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint i = gl_WorkGroupID.x * GROUP + lane;

    float sine = 0.0;
    float cosine = 0.0;
    if (i < count) {
        sine = waves[i].amplitude * sin(waves[i].phase);
        cosine = waves[i].amplitude * cos(waves[i].phase);
    }
    sines[lane] = sine;
    cosines[lane] = cosine;
    barrier();

    for (uint reach = GROUP / 2u; reach > 0u; reach >>= 1u) {
        if (lane < reach) {
            sines[lane] += sines[lane + reach];
            cosines[lane] += cosines[lane + reach];
        }
        barrier();
    }

    if (lane == 0u) {
        sums[gl_WorkGroupID.x] = vec2(sines[0], cosines[0]);
    }
}
