#version 460
// The kernel leaves a gap behind each vec3; a list of the host may have it or not.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; vec3 place[2]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(place[0], place[1].x);
    }
}
