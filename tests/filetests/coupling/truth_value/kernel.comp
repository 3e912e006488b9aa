#version 460
// A bool is a uint in a block: of an integer of the host only whether it is 0 counts.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; bool doubled; uint step; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        float weight = doubled ? 2.0 : 1.0;
        result[i] = vec4(weight * step);
    }
}
