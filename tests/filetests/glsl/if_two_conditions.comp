#version 450
// Bounds guard in two dimensions.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) buffer Result { float r[]; };
layout(push_constant) uniform Sizes { uint m; uint k; };
void main() {
    uint x = gl_GlobalInvocationID.x;
    uint y = gl_GlobalInvocationID.y;
    // decision: D1 if "x < k && y < m" conditions=2
    // exits: main 1
    // statements: 4
    if (x < k && y < m) {
        r[y * k + x] = 1.0;
    }
}
