#version 450
// A decision tree over features of a window of samples, as an image classifier would have it.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Samples { uint samples[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Classes { uint classes[]; };
layout(push_constant) uniform Parameters { uint count; };

uint classify(uint low, uint high, uint mean, uint spread) {
    if (low < 64u) {
        if (high > 200u || mean > 220u && spread > 10u) {
            return high > mean ? 1u : 2u;
        }
        if (mean == spread) {
            return 3u;
        }
        return spread < 128u && high < 128u ? 4u : 5u;
    }
    if (low < 128u) {
        if (high < 150u && mean < 50u && spread < 50u) {
            return 6u;
        }
        if ((high > 100u || mean > 100u) && (spread > 100u || low > 100u)) {
            return spread > 180u ? 7u : 8u;
        }
        return 9u;
    }
    uint votes = 0u;
    if (high > mean + 20u) {
        votes++;
    }
    if (mean > spread) {
        votes += 2u;
    }
    if (spread > 40u) {
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
        uint low = 255u;
        uint high = 0u;
        uint sum = 0u;
        uint squares = 0u;
        for (uint k = 0u; k < 25u; k++) {
            // Two by two words are one pixel; the window is five by five pixels in rows of 1,024.
            uint value = samples[(i + k % 5u + k / 5u * 1024u) % count] >> (8u * (i & 1u)) & 255u;
            low = min(low, value);
            high = max(high, value);
            sum += value;
            squares += value * value;
        }
        uint mean = sum / 25u;
        uint spread = uint(sqrt(float(squares / 25u - mean * mean)));
        classes[i] = classify(low * (i % 23u), high, mean, spread);
    }
}
