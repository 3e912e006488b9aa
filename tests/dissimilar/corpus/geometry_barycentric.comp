#version 450
//! buffer 0 float 0 0 4 0 0 4
//! buffer 1 float 1 1 5 5 0.5 3
//! buffer 2 uint 0*3
layout(local_size_x = 3) in;
layout(binding = 0) buffer T { vec2 corner[3]; };
layout(binding = 1) buffer P { vec2 points[]; };
layout(binding = 2) buffer R { uint inside[]; };
float edge(vec2 a, vec2 b, vec2 p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }
void main() {
    uint i = gl_LocalInvocationID.x;
    vec3 w = vec3(edge(corner[1], corner[2], points[i]), edge(corner[2], corner[0], points[i]), edge(corner[0], corner[1], points[i]));
    inside[i] = all(greaterThanEqual(w, vec3(0))) ? 1u : any(lessThan(w, vec3(-1))) ? 2u : 0u;
}
