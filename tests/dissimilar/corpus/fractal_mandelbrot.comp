#version 450
//! buffer 0 uint 0*16
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0) buffer I { uint iterations[]; };
void main() {
    vec2 c = vec2(gl_GlobalInvocationID.xy) / 4.0 * vec2(3.0, 2.0) - vec2(2.0, 1.0), z = vec2(0);
    uint n = 0u;
    while (n < 50u && dot(z, z) <= 4.0) { z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c; n++; }
    iterations[gl_GlobalInvocationID.y * 4u + gl_GlobalInvocationID.x] = n;
}
