#version 460
// Constants of an offline pipeline against the kernel and the interface.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(constant_id = 0) const uint TILE = 8;
layout(push_constant) uniform Sizes { uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(TILE);
    }
}
