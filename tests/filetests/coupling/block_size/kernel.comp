#version 460
// The host hands over fewer bytes than the block has.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; vec4 colour; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = colour;
    }
}
