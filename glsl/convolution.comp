#version 450

// Two-dimensional convolution with zero padding, one invocation per pixel.
//
//   image     height rows of width
//   weights   2 * radius + 1 rows of as many; the middle one belongs to the pixel itself
//   filtered  height rows of width
//
// A weight of zero contributes nothing, whatever the pixel under it holds.

#define SIDE 8

#define ROUND_DOWN 1u
#define ROUND_NEAREST 2u

layout(local_size_x = SIDE, local_size_y = SIDE, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Image { float image[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(std430, set = 0, binding = 2) buffer Filtered { float filtered[]; };

layout(push_constant) uniform Parameters {
    int width;
    int height;
    int radius;
    uint rounding;
};

// The pixel at a place, zero beyond the edges of the image.
float padded(int x, int y) {
    if (x < 0 || x >= width || y < 0 || y >= height) {
        return 0.0;
    }
    return image[y * width + x];
}

// The nearest integer, halves away from zero.
float nearest(float value) {
    float whole = trunc(value);
    return abs(value - whole) >= 0.5 ? whole + sign(value) : whole;
}

void main() {
    int x = int(gl_GlobalInvocationID.x);
    int y = int(gl_GlobalInvocationID.y);
    if (!(x < width && y < height)) {
        return;
    }

    // Where no weight reaches beyond an edge, pixels are read without asking.
    bool interior = x >= radius && x < width - radius && y >= radius && y < height - radius;
    int side = 2 * radius + 1;
    float sum = 0.0;
    for (int dy = -radius; dy <= radius; ++dy) {
        for (int dx = -radius; dx <= radius; ++dx) {
            float weight = weights[(dy + radius) * side + dx + radius];
            if (weight == 0.0) {
                continue;
            }
            sum += weight * (interior ? image[(y - dy) * width + x - dx] : padded(x - dx, y - dy));
        }
    }

    switch (rounding) {
    case ROUND_DOWN:
        sum = floor(sum);
        break;
    case ROUND_NEAREST:
        sum = nearest(sum);
        break;
    default:
        break;
    }
    filtered[y * width + x] = sum;
}
