#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

// Sums of amplitude * sin(phase) and amplitude * cos(phase) for each workgroup: each subgroup sums by an operation of its own,
// the first invocation of the workgroup sums what the subgroups have.

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

// A subgroup has one invocation at least.
shared vec2 subgroupSums[GROUP];

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec2 value = vec2(0.0);
    if (i < count) {
        Wave wave = waves[i];
        value = wave.amplitude * vec2(sin(wave.phase), cos(wave.phase));
    }

    vec2 sum = subgroupAdd(value);
    if (subgroupElect()) {
        subgroupSums[gl_SubgroupID] = sum;
    }
    barrier();

    if (gl_LocalInvocationIndex == 0u) {
        vec2 total = vec2(0.0);
        for (uint s = 0u; s < gl_NumSubgroups; ++s) {
            total += subgroupSums[s];
        }
        sums[gl_WorkGroupID.x] = total;
    }
}
