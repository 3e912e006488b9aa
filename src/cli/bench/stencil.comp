#version 450
// Five-point average of a field of `width` columns; the border keeps its values.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) readonly buffer Field { float field[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Average { float average[]; };
layout(push_constant) uniform Parameters { uint width; uint height; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= height) {
        return;
    }
    uint i = at.y * width + at.x;
    float sum = field[i];
    float weight = 1.0;
    if (at.x > 0u) {
        sum += field[i - 1u];
        weight += 1.0;
    }
    if (at.x + 1u < width) {
        sum += field[i + 1u];
        weight += 1.0;
    }
    if (at.y > 0u) {
        sum += field[i - width];
        weight += 1.0;
    }
    if (at.y + 1u < height) {
        sum += field[i + width];
        weight += 1.0;
    }
    average[i] = sum / weight;
}
