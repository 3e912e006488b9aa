#version 460
layout(local_size_x = 16) in;
layout(constant_id = 0) const uint SCALE = 16;
layout(std430, set = 0, binding = 0) buffer Result { uint result[]; };
layout(push_constant) uniform Sizes { uint n; uint square; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) result[i] = square + SCALE;
}
