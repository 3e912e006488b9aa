#version 450
// One convolution kernel for many layers: padding, stride and activation are specialization constants.
// groups: 2 2 1
// buffer: 0 float 144 random 81 -2 2
// buffer: 1 float 9 random 82 -1 1
// buffer: 2 float 144 zero
// spec: {"1": {"type": "uint", "value": 2}, "3": {"type": "uint", "value": 1}}
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const bool PAD = true;
layout(constant_id = 1) const uint ACTIVATION = 1;
layout(constant_id = 2) const float SLOPE = 0.25;
layout(constant_id = 3) const uint STRIDE = 1;
layout(constant_id = 4) const bool FLIP = false;
const bool UNIT = STRIDE == 1u;
layout(std430, binding = 0) readonly buffer In { float source[144]; };
layout(std430, binding = 1) readonly buffer Kernel { float weight[9]; };
layout(std430, binding = 2) writeonly buffer Out { float target[144]; };
float activated(float x) {
    if (ACTIVATION == 0u) return x;
    if (ACTIVATION == 1u) return x > 0.0 ? x : 0.0;
    if (ACTIVATION == 2u && SLOPE > 0.0) return x < 0.0 ? x * SLOPE : x;
    return clamp(x, -1.0, 1.0);
}
void main() {
    const int EDGE = PAD && UNIT ? 1 : 0;
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (p.x > 11 || p.y > 11) return;
    float sum = 0.0;
    for (int ky = 0; ky < 3; ++ky) {
        for (int kx = 0; kx < 3; ++kx) {
            ivec2 q = p * int(STRIDE) + ivec2(kx, ky) - EDGE;
            bool inside = q.x >= 0 && q.x < 12 && q.y >= 0 && q.y < 12;
            if (!inside) { if (PAD) continue; else break; }
            sum += source[q.y * 12 + q.x] * weight[FLIP ? 8 - (ky * 3 + kx) : ky * 3 + kx];
        }
    }
    target[p.y * 12 + p.x] = activated(sum);
}
