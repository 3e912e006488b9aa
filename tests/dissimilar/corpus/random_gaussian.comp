#version 450
//! buffer 0 float 0.1 0.7 0.4 0.2
layout(local_size_x = 2) in;
layout(binding = 0) buffer U { vec2 uniform_pairs[]; };
const float TAU = 6.28318530718;
void main() {
    vec2 u = uniform_pairs[gl_LocalInvocationID.x];
    float radius = sqrt(-2.0 * log(u.x));
    uniform_pairs[gl_LocalInvocationID.x] = radius * vec2(cos(TAU * u.y), sin(TAU * u.y));
}
