#version 450
// A decision tree over the features of each record, as a classifier would have it.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Features { uvec4 features[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Classes { uint classes[]; };
layout(push_constant) uniform Parameters { uint count; };

uint classify(uvec4 f) {
    if (f.x < 64u) {
        if (f.y > 200u || f.z > 220u && f.w > 10u) {
            return f.y > f.z ? 1u : 2u;
        }
        if (f.z == f.w) {
            return 3u;
        }
        return f.w < 128u && f.y < 128u ? 4u : 5u;
    }
    if (f.x < 128u) {
        if (f.y < 50u && f.z < 50u && f.w < 50u) {
            return 6u;
        }
        if ((f.y > 100u || f.z > 100u) && (f.w > 100u || f.x > 100u)) {
            return f.w > 180u ? 7u : 8u;
        }
        return 9u;
    }
    uint votes = 0u;
    if (f.y > f.z) {
        votes++;
    }
    if (f.z > f.w) {
        votes += 2u;
    }
    if (f.w > f.y) {
        votes += 4u;
    }
    if (votes == 0u || votes == 7u) {
        return 10u;
    }
    return 11u + votes;
}

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i < count) {
        uint found = 0u;
        uvec4 f = features[i];
        for (uint round = 0u; round < 8u; round++) {
            found = found * 3u + classify(f & 255u);
            f = f.yzwx * 5u + round;
        }
        classes[i] = found;
    }
}
