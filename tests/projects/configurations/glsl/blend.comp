#version 450

// Blends two lists. What is compiled in is chosen per pipeline by specialization constants.

layout(local_size_x = 4) in;

layout(constant_id = 0) const uint MODE = 0u;
layout(constant_id = 1) const bool CLAMP = true;
layout(constant_id = 2) const float LIMIT = 8.0;

layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer R { float r[]; };

layout(push_constant) uniform Parameters {
    uint count;
    uint first;
};

float weighted(float x, float y) {
    return 0.75 * x + 0.25 * y;
}

float limited(float x) {
    if (CLAMP && LIMIT > 0.0 && x > LIMIT) {
        return LIMIT;
    }
    return x;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    float value = a[i] + b[i];
    if (MODE == 1u) {
        value = weighted(a[i], b[i]);
    } else if (MODE == 2u || a[i] > b[i]) {
        value = a[i];
    }
    switch (MODE) {
    case 0u:
        value += 0.0;
        break;
    case 1u:
        value *= 2.0;
        break;
    default:
        value -= 1.0;
    }
    if ((i >= first && a[i] > 1.0) || (i >= first && b[i] > 1.0)) {
        value = -value;
    }
    r[i] = limited(value);
}
