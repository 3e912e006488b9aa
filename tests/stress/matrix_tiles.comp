#version 450
#extension GL_EXT_control_flow_attributes : require
// Tiled product with partial tiles on every side and an epilogue chosen by specialization.
// groups: 2 2 1
// buffer: 0 float 182 random 11 -3 3
// buffer: 1 float 156 random 12 -3 3
// buffer: 2 float 168 zero
// push: {"m": 14, "n": 13, "k": 12, "bias": 0.5}
// spec: {"0": {"type": "uint", "value": 8}, "1": {"type": "bool", "value": true}}
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint TILE = 8;
layout(constant_id = 1) const bool RELU = false;
layout(constant_id = 2) const bool BIAS = true;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform P { uint m, n, k; float bias; };
shared float ta[8][8], tb[8][8];
float epilogue(float x) {
    if (BIAS) x += bias;
    if (RELU && x < 0.0) x = 0.0;
    return x;
}
void main() {
    const bool WIDE = TILE > 4u && TILE <= 8u;
    uvec2 at = gl_GlobalInvocationID.xy, here = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint t = 0u; t < (n + TILE - 1u) / TILE; ++t) {
        uint i = t * TILE + here.x, j = t * TILE + here.y;
        ta[here.y][here.x] = at.y < m && i < n ? a[at.y * n + i] : 0.0;
        tb[here.y][here.x] = j < n && at.x < k ? b[j * k + at.x] : 0.0;
        barrier();
        [[unroll]] for (uint e = 0u; e < TILE; ++e) sum += ta[here.y][e] * tb[e][here.x];
        barrier();
    }
    if (at.y < m && (at.x < k || !WIDE)) c[at.y * k + at.x] = epilogue(sum);
}
