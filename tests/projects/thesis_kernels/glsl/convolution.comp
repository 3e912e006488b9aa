#version 450

// Convolution of an image with a filter of 5 by 5 weights. Beyond the edges of the image there is zero.
//
// A workgroup reads its tile with a rim of RADIUS pixels into workgroup memory, and the weights too.

#define TILE 8
#define RADIUS 2
#define SIDE (TILE + 2 * RADIUS)
#define TAPS (2 * RADIUS + 1)

layout(local_size_x = TILE, local_size_y = TILE) in;

layout(std430, set = 0, binding = 0) readonly buffer Image { float image[]; };
layout(std430, set = 0, binding = 1) readonly buffer Filter { float weights[TAPS * TAPS]; };
layout(std430, set = 0, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Parameters {
    int width;
    int height;
};

shared float pixels[SIDE * SIDE];
shared float taps[TAPS * TAPS];

bool inside(int x, int y) {
    return x >= 0 && y >= 0 && x < width && y < height;
}

// The pixel at a place, or zero beyond the edges.
float pixelAt(int x, int y) {
    if (!inside(x, y)) {
        return 0.0;
    }
    return image[y * width + x];
}

void main() {
    int index = int(gl_LocalInvocationIndex);
    int left = int(gl_WorkGroupID.x) * TILE - RADIUS;
    int top = int(gl_WorkGroupID.y) * TILE - RADIUS;

    for (int i = index; i < SIDE * SIDE; i += TILE * TILE) {
        pixels[i] = pixelAt(left + i % SIDE, top + i / SIDE);
    }
    if (index < TAPS * TAPS) {
        taps[index] = weights[index];
    }
    barrier();

    int x = int(gl_GlobalInvocationID.x);
    int y = int(gl_GlobalInvocationID.y);
    if (!inside(x, y)) {
        return;
    }

    // A convolution turns the filter: its first weight goes with the pixel below and to the right.
    int first = int(gl_LocalInvocationID.y) * SIDE + int(gl_LocalInvocationID.x);
    float sum = 0.0;
    for (int v = 0; v < TAPS; ++v) {
        for (int u = 0; u < TAPS; ++u) {
            sum += taps[TAPS * TAPS - 1 - (v * TAPS + u)] * pixels[first + v * SIDE + u];
        }
    }
    result[y * width + x] = sum;
}
