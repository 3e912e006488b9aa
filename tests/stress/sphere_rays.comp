#version 450
// First hit of a ray with a few spheres and a floor.
// groups: 2 2 1
// buffer: 0 float 16 random 201 -3 3
// buffer: 1 float 256 zero
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer Spheres { vec4 sphere[]; };
layout(std430, binding = 1) writeonly buffer Depth { float depth[]; };
bool hit(vec4 s, vec3 from, vec3 way, inout float nearest) {
    vec3 d = from - s.xyz;
    float b = dot(d, way), c = dot(d, d) - abs(s.w), square = b * b - dot(way, way) * c;
    if (square < 0.0) return false;
    float t = -b - (square > 1.0 ? 1.0 : square);
    if (t > 0.0 && t < nearest) { nearest = t; return true; }
    return false;
}
void main() {
    uvec2 p = gl_GlobalInvocationID.xy;
    vec3 from = vec3(0.0, 0.0, -8.0), way = vec3(vec2(p) * 0.125 - 1.0, 1.0);
    float nearest = 100.0;
    bool any_hit = false;
    for (int i = 0; i < sphere.length(); i++) any_hit = hit(sphere[i], from, way, nearest) || any_hit;
    bool floor_hit = way.y < 0.0 && -2.0 / way.y < nearest;
    depth[p.y * 16u + p.x] = any_hit ? nearest : floor_hit ? -2.0 / way.y : 100.0;
}
