#version 450

// Point operations on an image with four 8-bit pixels in each word: gain with saturation, inversion, threshold, or a copy.
// The number of pixels that saturated is counted per kind: too dark, too bright.

layout(local_size_x = 4) in;

layout(std430, set = 0, binding = 0) readonly buffer Image { uint image[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Result { uint result[]; };
layout(std430, set = 0, binding = 2) buffer Saturated { uint saturated[]; };

layout(push_constant) uniform Parameters {
    uint words;
    uint operation;
    int gain;
    int bias;
};

#define GAIN 0u
#define INVERT 1u
#define THRESHOLD 2u

uint saturating(int value) {
    if (value < 0) {
        atomicAdd(saturated[0], 1u);
        return 0u;
    } else if (value > 255) {
        atomicAdd(saturated[1], 1u);
        return 255u;
    }
    return uint(value);
}

uint changed(uint pixel) {
    switch (operation) {
    case GAIN:
        // The gain is in sixteenths.
        return saturating(int(pixel) * gain / 16 + bias);
    case INVERT:
        pixel = 255u - pixel;
        // An inverted image is thresholded too where a bias is given.
    case THRESHOLD:
        return bias == 0 ? pixel : (int(pixel) >= bias ? 255u : 0u);
    }
    return pixel;
}

void main() {
    uint word = gl_GlobalInvocationID.x;
    if (word >= words) {
        return;
    }
    uint packed = image[word];
    uint made = 0u;
    for (uint shift = 0u; shift < 32u; shift += 8u) {
        made |= changed((packed >> shift) & 0xFFu) << shift;
    }
    result[word] = made;
}
