#version 460
// A quaternion whose host keeps w first has other bytes than xyzw.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
struct Body { vec4 turn; vec3 place; };
layout(push_constant) uniform Sizes { uint n; };
layout(std430, set = 0, binding = 1) readonly buffer Input { Body bodies[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = bodies[i].turn + vec4(bodies[i].place, 0);
    }
}
