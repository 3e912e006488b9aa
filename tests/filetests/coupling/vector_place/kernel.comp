#version 460
// A vec3 begins at a multiple of 16 bytes, three floats of C do not.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Parameters { uint n; vec3 place; float weight; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(place, weight);
    }
}
