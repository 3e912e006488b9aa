#version 450
#extension GL_EXT_control_flow_attributes : require
//! buffer 0 float 1 -2 -3 4
//! buffer 1 float 0.5 0.25 -1 2 1 1 1 1 -1 0 0 0.5
//! buffer 2 float 0.1 -0.2 0.3
//! buffer 3 float 0*3
layout(local_size_x = 4) in;
layout(constant_id = 0) const int INPUTS = 4;
layout(constant_id = 1) const bool RELU = true;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer W { float weight[]; };
layout(binding = 2) readonly buffer Bias { float bias[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
float activation(float v) { return RELU ? max(v, 0.f) : v; }
void main() {
    const uint row = gl_GlobalInvocationID.x;
    if (row >= 3u) { return; }
    float sum = bias[row];
    [[unroll]] for (int k = 0; k < INPUTS; ++k) { sum = fma(weight[row * INPUTS + k], x[k], sum); }
    y[row] = activation(sum);
}
