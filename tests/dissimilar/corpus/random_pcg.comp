#version 450
//! buffer 0 uint 1 2 3 4
layout(local_size_x = 4) in;
layout(binding = 0) buffer S { uint seeds[]; };
uvec3 pcg3d(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z; v.y += v.z * v.x; v.z += v.x * v.y;
    return v;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    seeds[i] = pcg3d(uvec3(seeds[i], i, 7)).z;
}
