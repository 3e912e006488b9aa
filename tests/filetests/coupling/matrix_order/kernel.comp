#version 460
// Bytes do not tell rows from columns: the host states which it stores together.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Parameters { uint n; layout(row_major) mat4 view; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = view[0];
    }
}
