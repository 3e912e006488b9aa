#version 450
// Assigns points to centres; empty centres keep their place.
// groups: 1 1 1
// buffer: 0 float 128 random 181 0 30
// buffer: 1 float 8 random 182 0 30
// buffer: 2 uint 64 zero
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Points { vec2 point[]; };
layout(std430, binding = 1) readonly buffer Centres { vec2 centre[]; };
layout(std430, binding = 2) writeonly buffer Owners { uint owner[]; };
shared uint members[4];
void main() {
    uint me = gl_LocalInvocationIndex, mine = 0u;
    if (me < 4u) members[me] = 0u;
    barrier();
    float best = 1.0e9;
    for (uint i = 0u; i < 4u; ++i) {
        vec2 d = point[me] - centre[i];
        float far = dot(d, d);
        if (far < best || far == best && i < mine) { best = far; mine = i; }
    }
    bool outlier = best > 150.0;
    if (!outlier) atomicAdd(members[mine], 1u);
    barrier();
    bool small = members[mine] < 3u;
    owner[me] = outlier ? 255u : small && best > 20.0 ? 128u + mine : mine;
}
