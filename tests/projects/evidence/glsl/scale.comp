#version 450
#extension GL_GOOGLE_include_directive : require
#include "scaled.glsl"

// Scales the first `count` values of a workgroup by a factor, and says how many.

layout(local_size_x = 4) in;
layout(constant_id = 0) const uint FACTOR = 2u;

layout(std430, set = 0, binding = 0) buffer Values { uint values[]; };
layout(std430, set = 0, binding = 1) buffer Summary {
    uint scaled_values;
    vec2 range;
} summary;

layout(push_constant) uniform Parameters {
    uint count;
};

shared uint tile[4];

void main() {
    uint local = gl_LocalInvocationID.x;
    tile[local] = values[local];
    memoryBarrierShared();
    barrier();
    if (local < count && tile[3u - local] != 9u) {
        values[local] = scaled(tile[local], FACTOR);
    }
    switch (local) {
        case 0u:
            summary.scaled_values = count;
            summary.range = vec2(0.0, float(count));
            break;
        default:
            break;
    }
}
