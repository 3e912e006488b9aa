#version 450
//! buffer 0 float 1.5 2.5 -3 4
//! buffer 1 uint 3 9
layout(local_size_x = 1) in;
layout(binding = 0) buffer F { vec4 f; };
layout(binding = 1) buffer U { uint u; uint n; };
float twice(float x) { return 2 * x; }
vec2 twice(vec2 x) { return 2 * x; }
void never_called(inout vec4 v) { v = vec4(packHalf2x16(v.xy)); }
void main() {
    vec4 k = vec4(mod(u, 2), mod(f.x, 2), pow(2, u), max(u, 2.5));
    ivec2 i = ivec2(f.xy);
    uvec2 w = uvec2(u, n);
    bool same = i == w, some = any(lessThan(i, w));
    f = fma(k, vec4(i, w), f) + step(1, f) + mix(f, k, u) + clamp(k, 0, 3);
    f.xy = twice(twice(i));
    f.z = twice(u) + float(same) + (some ? 1 : 0.5) + distance(vec2(i), w) + length(int(3));
    n = uint(f.w) % 7u + uint(gl_WorkGroupSize) + int(gl_NumWorkGroups) + uint(bool(i));
}
