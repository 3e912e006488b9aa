#version 450
//! buffer 0 float -1 0 NaN 129 9
//! buffer 1 uint 40 0
//! expect 0 float 1 2 3 4 5
//! expect 1 uint 6 7
#extension GL_KHR_shader_subgroup_shuffle_relative : require
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer A { float a[]; };
layout(std430, set=0, binding=1) buffer B { uint b[]; };
shared uint s, t;
struct Kept { float root, logarithm, least, scaled; };
void main() {
    Kept kept = Kept(sqrt(a[0]), log(a[1]), min(a[2], 1.0), ldexp(1.0, int(a[3])));
    Kept copy = kept;
    t = 1u << b[0];
    uint old = atomicExchange(s, 6u);
    uint above = subgroupShuffleUp(b[0], 1u);
    vec4 chosen = mix(vec4(kept.root, kept.logarithm, kept.least, kept.scaled), vec4(1, 2, 3, 4), bvec4(true));
    a[0] = chosen.x; a[1] = chosen.y; a[2] = chosen.z; a[3] = chosen.w;
    a[4] = b[1] == 0u ? 5.0 : copy.least;
    b[0] = s; b[1] = 7u;
    if (b[1] == 8u) b[1] = old + above + t;
}
