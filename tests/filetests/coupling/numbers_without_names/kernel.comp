#version 460
// Which numbers of a list are which members of a struct bytes do not tell.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
struct Point { vec3 place; float weight; };
layout(push_constant) uniform Sizes { uint n; };
layout(std430, set = 0, binding = 1) readonly buffer Input { Point points[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(points[i].place, points[i].weight);
    }
}
