#version 460
// Constants of types that are no unsigned integers, set by an offline pipeline.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(constant_id = 0) const float SCALE = 1.5;
layout(constant_id = 1) const double STEP = 0.25;
layout(constant_id = 2) const int SHIFT = -1;
layout(constant_id = 3) const bool ROUNDED = false;
layout(push_constant) uniform Sizes { uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(SCALE, float(STEP), float(SHIFT), ROUNDED ? 1.0 : 0.0);
    }
}
