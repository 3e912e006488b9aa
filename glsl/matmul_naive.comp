#version 450

// Matrix product, one invocation per element of the result.
//
//   left   m rows of n     right  n rows of k     result  m rows of k     (all row by row)
//
// The dispatch covers the result with whole workgroups; invocations beyond its edges do nothing.

layout(local_size_x = 16, local_size_y = 16, local_size_z = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Left { float left[]; };
layout(std430, set = 0, binding = 1) readonly buffer Right { float right[]; };
layout(std430, set = 0, binding = 2) buffer Result { float result[]; };

layout(push_constant) uniform Sizes {
    uint m;
    uint n;
    uint k;
};

void main() {
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;

    if (column < k && row < m) {
        float sum = 0.0;
        for (uint i = 0u; i < n; ++i) {
            sum += left[row * n + i] * right[i * k + column];
        }
        result[row * k + column] = sum;
    }
}
