#version 450
//! buffer 0 float 0*8
layout(local_size_x = 8) in;
layout(binding = 0) buffer R { float r[]; };
float hash(float n) { return fract(sin(n) * 43.5453); }
float noise(vec2 p) {
    vec2 i = floor(p), f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    float n = i.x + i.y * 57.0;
    return mix(mix(hash(n), hash(n + 1.0), f.x), mix(hash(n + 57.0), hash(n + 58.0), f.x), f.y);
}
void main() {
    float sum = 0.0, weight = 0.5;
    vec2 at = vec2(gl_GlobalInvocationID.x, 1) * 0.37;
    for (int octave = 0; octave < 3; ++octave, weight *= 0.5, at = mat2(0.8, 0.6, -0.6, 0.8) * at * 2.0) sum += weight * noise(at);
    r[gl_GlobalInvocationID.x] = smoothstep(0.0, 1.0, sum);
}
