#version 450
// One element of a product of matrices per invocation, from global memory.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Product { float product[]; };
layout(push_constant) uniform Parameters { uint rows; uint columns; uint inner; };

void main() {
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    if (row < rows && column < columns) {
        float sum = 0.0;
        for (uint k = 0u; k < inner; k++) {
            sum += left[row * inner + k] * right[k * columns + column];
        }
        product[row * columns + column] = sum;
    }
}
