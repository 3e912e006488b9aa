#version 450
//! buffer 0 float 0 0 5 1 2 0 5 1 0 3 8 2 -1 -1 4 0.5
//! buffer 1 float 0*4
layout(local_size_x = 4) in;
layout(binding = 0) buffer S { vec4 spheres[]; };
layout(binding = 1) buffer T { float hits[]; };
struct Ray { vec3 origin, direction; };
bool intersect(const Ray ray, const vec4 sphere, out float t) {
    vec3 oc = ray.origin - sphere.xyz;
    float b = dot(oc, ray.direction), c = dot(oc, oc) - sphere.w * sphere.w, h = b * b - c;
    t = -1.0;
    if (h < 0.0) return false;
    t = -b - sqrt(h);
    return t > 0.0;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    Ray ray = Ray(vec3(0), normalize(vec3(spheres[i].xy * 0.9, spheres[i].z)));
    float t;
    hits[i] = intersect(ray, spheres[i], t) ? t : reflect(ray.direction, vec3(0, 1, 0)).y;
}
