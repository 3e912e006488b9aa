#version 450
// Early returns: most invocations leave at one of three guards.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) buffer Output { uint results[]; };
layout(push_constant) uniform Parameters { uint count; };

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    uint x = words[i];
    if ((x & 3u) == 0u) {
        results[i] = 0u;
        return;
    }
    if (x > 0xC0000000u && (x & 64u) != 0u) {
        results[i] = 1u;
        return;
    }
    for (uint k = 0u; k < 24u; k++) {
        x = x * 747796405u + 2891336453u;
        if (x < 1000u) {
            results[i] = k;
            return;
        }
    }
    results[i] = x;
}
