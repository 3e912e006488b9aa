#version 450
//! buffer 0 float 0 0 0 0 1 0 0 0 3 0 0 0 3.5 0 0 0
//! buffer 1 float 0*16
//! push float 4 float 1 float 0.1
layout(local_size_x = 4) in;
struct Particle { vec4 place; };
layout(binding = 0) buffer In { Particle before[]; };
layout(binding = 1) buffer Out { Particle after[]; };
layout(push_constant) uniform Push { float stiffness; float rest; float dt; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    vec3 force = vec3(0.0, -9.81, 0.0);
    if (i > 0u) { vec3 d = before[i - 1u].place.xyz - before[i].place.xyz; force += normalize(d) * (length(d) - rest) * stiffness; }
    if (i + 1u < before.length()) { vec3 d = before[i + 1u].place.xyz - before[i].place.xyz; force += normalize(d) * (length(d) - rest) * stiffness; }
    after[i].place = vec4(before[i].place.xyz + force * dt * dt, 1.0);
}
