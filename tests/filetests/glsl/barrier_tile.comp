#version 450
// Tiled product after figure 5 of the paper, with barriers outside the guard.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer R { float r[]; };
layout(push_constant) uniform Sizes { uint m; uint n; uint k; };
const uint T = 16u;
shared float ta[T][T];
shared float tb[T][T];
void main() {
    const uvec2 at = gl_GlobalInvocationID.xy, here = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint tile = 0u; tile < (n + T - 1u) / T; tile++) {
        uint i = tile * T + here.x, j = tile * T + here.y;
        ta[here.y][here.x] = at.y < m && i < n ? a[at.y * n + i] : 0.0;
        tb[here.y][here.x] = at.x < k && j < n ? b[j * k + at.x] : 0.0;
        barrier();
        for (uint t = 0u; t < T; ++t) sum += ta[here.y][t] * tb[t][here.x];
        barrier();
    }
    if (at.x < k && at.y < m) r[at.y * k + at.x] = sum;
}
// decision: D1 for "tile < (n + T - 1u) / T" conditions=1
// decision: D2 ternary "at.y < m && i < n" conditions=2
// decision: D3 ternary "at.x < k && j < n" conditions=2
// decision: D4 for "t < T" conditions=1
// decision: D5 if "at.x < k && at.y < m" conditions=2
