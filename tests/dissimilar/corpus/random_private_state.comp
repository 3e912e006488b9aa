#version 450
//! buffer 0 float 0*8
layout(local_size_x = 4) in;
layout(binding = 0) buffer R { vec2 r[]; };
uint state;
float drawn() {
    state = state * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float((word >> 22u) ^ word) / 4294967296.0;
}
vec3 in_ball() {
    vec3 p = 2.0 * vec3(drawn(), drawn(), drawn()) - 1.0;
    return length(p) > 1.0 ? p / length(p) : p;
}
void main() {
    state = gl_GlobalInvocationID.x * 7919u + 1u;
    vec2 pair[2] = vec2[2](vec2(drawn(), drawn()), vec2(drawn()));
    mat2 m = mat2(drawn(), drawn(), drawn(), drawn());
    r[gl_GlobalInvocationID.x] = m * pair[0] + pair[1] * in_ball().xy;
}
