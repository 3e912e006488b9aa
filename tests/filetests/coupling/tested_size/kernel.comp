#version 460
layout(local_size_x = 16) in;
layout(std430, set = 0, binding = 0) buffer Result { uint result[]; };
layout(push_constant) uniform Sizes { uint total; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < total) result[i] = 1;
}
