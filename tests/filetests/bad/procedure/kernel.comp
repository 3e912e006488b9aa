#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const uint TILE = 16u;
layout(constant_id = 3) const bool NEGATE = false;
struct Pair { vec3 v; float w; };
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) buffer R { uint n; mat3x2 m; float r[]; } result;
layout(std140, set = 0, binding = 2) uniform U { vec4 v; Pair p[2]; } u;
layout(push_constant) uniform P { uint m; vec3 scale; Pair pair; float tail[2]; } p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < p.m && i < TILE) {
        float x = a[i] * u.v.x + p.scale.y + p.tail[1] + result.m[1].y + p.pair.w + u.p[1].w;
        result.r[i] = NEGATE ? -x : x;
    }
}
