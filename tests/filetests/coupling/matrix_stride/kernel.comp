#version 460
// The columns of a mat3 lie 16 bytes apart.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Parameters { uint n; mat3 view; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(view[0] + view[2], 0);
    }
}
