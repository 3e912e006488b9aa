#version 450
// Row maximum and normalisation with a mask, the shape of an attention kernel.
// groups: 4 1 1
// buffer: 0 float 80 random 71 -4 4
// buffer: 1 float 80 zero
// push: {"columns": 20, "masked": 1, "scale": 0.5}
layout(local_size_x = 16) in;
layout(constant_id = 0) const bool CAUSAL = true;
layout(constant_id = 1) const uint LANES = 16;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint columns; uint masked; float scale; };
shared float partial[16];
float reduce_max(float mine) {
    uint me = gl_LocalInvocationIndex;
    partial[me] = mine;
    barrier();
    for (uint half_ = LANES / 2u; half_ > 0u; half_ /= 2u) {
        if (me < half_ && partial[me + half_] > partial[me]) partial[me] = partial[me + half_];
        barrier();
    }
    float result = partial[0];
    barrier();
    return result;
}
void main() {
    uint row = gl_WorkGroupID.x, me = gl_LocalInvocationIndex;
    float best = -1.0e9;
    for (uint c = me; c < columns; c += LANES) {
        bool visible = masked == 0u || !CAUSAL || c <= row * 5u;
        float value = visible ? x[row * columns + c] * scale : -1.0e9;
        if (value > best) best = value;
    }
    best = reduce_max(best);
    for (uint c = me; c < columns; c += LANES) {
        float d = x[row * columns + c] * scale - best;
        y[row * columns + c] = d > 0.0 || d < -2.0 ? 0.0 : 1.0 + d * 0.5;
    }
}
