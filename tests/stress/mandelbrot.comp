#version 450
// Escape times with a periodicity check.
// groups: 2 2 1
// buffer: 0 uint 256 zero
// push: {"limit": 40}
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) writeonly buffer Out { uint times[]; };
layout(push_constant) uniform P { uint limit; };
void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    vec2 c = vec2(at) * 0.1875 - vec2(2.25, 1.5), z = vec2(0.0), old = vec2(0.0);
    uint n = 0u, period = 0u;
    for (; n < limit && dot(z, z) <= 4.0; ++n) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        if (z == old) { n = limit; break; }
        if (++period > 8u) { period = 0u; old = z; }
    }
    times[at.y * 16u + at.x] = n >= limit ? 0u : n > 10u && (n & 1u) == 1u ? 255u : n;
}
