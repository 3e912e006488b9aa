#version 460
// Under the scalar layout a vec3 takes 12 bytes and begins at any multiple of 4.
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(scalar, push_constant) uniform Parameters { uint n; vec3 place; float weight; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(place, weight);
    }
}
