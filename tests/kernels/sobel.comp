#version 450

// Edge detection: the two gradients of the Sobel operator, their magnitude as the sum of absolute values, and a mask of edges
// with hysteresis. Places beyond the image repeat its border.

layout(local_size_x = 4, local_size_y = 4) in;

layout(std140, set = 1, binding = 0) uniform Parameters {
    int width;
    int height;
    int weak;
    int strong;
};
layout(std430, set = 0, binding = 0) readonly buffer Image { int image[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Mask { int mask[]; };

int pixel(int x, int y) {
    return image[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

void gradients(int x, int y, out int horizontal, out int vertical) {
    horizontal = 0;
    vertical = 0;
    for (int offset = -1; offset <= 1; ++offset) {
        int weight = offset == 0 ? 2 : 1;
        horizontal += weight * (pixel(x + 1, y + offset) - pixel(x - 1, y + offset));
        vertical += weight * (pixel(x + offset, y + 1) - pixel(x + offset, y - 1));
    }
}

void main() {
    int x = int(gl_GlobalInvocationID.x);
    int y = int(gl_GlobalInvocationID.y);
    if (x >= width || y >= height) {
        return;
    }
    int horizontal;
    int vertical;
    gradients(x, y, horizontal, vertical);
    int magnitude = abs(horizontal) + abs(vertical);
    bool diagonal = horizontal != 0 && vertical != 0;
    if (magnitude >= strong || magnitude >= weak && !diagonal) {
        mask[y * width + x] = magnitude;
    } else {
        mask[y * width + x] = magnitude < weak ? 0 : -1;
    }
}
