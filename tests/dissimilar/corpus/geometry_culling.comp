#version 450
//! buffer 0 float 0 0 0 1 5 5 5 1 -9 0 0 2 0 0 20 3
//! buffer 1 uint 0*5
layout(local_size_x = 4) in;
struct Bounds { vec3 centre; float radius; };
struct Command { uint count; uint visible[4]; };
layout(binding = 0) readonly buffer B { Bounds bounds[]; };
layout(binding = 1) buffer C { Command command; };
const vec4 PLANES[3] = vec4[3](vec4(1, 0, 0, 4), vec4(0, 0, -1, 10), vec4(0, 1, 0, 1));
bool is_visible(const in Bounds b) {
    for (int p = 0; p < PLANES.length(); ++p)
        if (dot(PLANES[p].xyz, b.centre) + PLANES[p].w < -b.radius) return false;
    return true;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (is_visible(bounds[i])) {
        uint slot = atomicAdd(command.count, 1u);
        command.visible[slot] = i;
    }
}
