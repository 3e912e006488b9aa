#version 450
//! buffer 0 float 0 0 0 1 1 0 0 2 0 1 0 3 1 1 1 1
//! buffer 1 float 0*16
layout(local_size_x = 4) in;
struct Body { vec3 position; float mass; };
layout(std430, binding = 0) buffer Bodies { Body bodies[]; };
layout(std430, binding = 1) buffer Velocities { vec3 velocities[]; };
shared vec4 tile[4];
vec3 pull(vec3 from, vec4 other) {
    vec3 r = other.xyz - from;
    float d = dot(r, r) + 0.01;
    return r * (other.w * inversesqrt(d * d * d));
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    tile[gl_LocalInvocationID.x] = vec4(bodies[i].position, bodies[i].mass);
    memoryBarrierShared();
    barrier();
    vec3 acceleration = vec3(0);
    for (uint k = 0; k < 4; ++k) if (k != i) acceleration += pull(bodies[i].position, tile[k]);
    velocities[i] += acceleration * 0.125;
    barrier();
    bodies[i].position += velocities[i] * 0.125;
}
