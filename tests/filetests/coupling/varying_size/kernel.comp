#version 460
layout(local_size_x_id = 5) in;
layout(constant_id = 3) const uint COUNT = 4;
layout(std430, set = 0, binding = 0) buffer Result { uint result[COUNT / 64u + 1u]; };
shared uint sums[COUNT / 64u + 1u];
void main() {
    if (gl_LocalInvocationIndex == 0u) {
        sums[0] = 1;
        result[0] = sums[0];
    }
}
