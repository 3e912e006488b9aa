#version 450
//! buffer 0 float -2 -1 -0.5 0 0.5 1 2 3
//! buffer 1 float 0*32
layout(local_size_x = 8) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { vec4 y[]; };
const float ROOT = 0.79788456080286535587989211986876;
float gelu(const float v) { return 0.5 * v * (2.0 - 2.0 / (exp(2 * ROOT * v * (1.0 + 0.044715 * v * v)) + 1)); }
float silu(float v) { return v / (1.0 + exp(-v)); }
float softplus(float v) { return v > 20 ? v : log(1 + exp(v)); }
void main() {
    const uint i = gl_GlobalInvocationID.x;
    y[i] = vec4(gelu(x[i]), silu(x[i]), tanh(x[i]), softplus(x[i]));
}
