#version 450

// Everything that moves across barriers: a loop around barriers that is left and continued, branches around barriers, variables
// and arrays per invocation, a variable of the file, parameters that are written back, blocks of every layout.

layout(local_size_x = 4, local_size_y = 2) in;

struct Pair {
    vec2 a;
    uint n;
};

layout(std430, set = 0, binding = 0) buffer Results { uint r[]; };
layout(std430, set = 0, binding = 1) buffer Box {
    uint total;
    vec4 colours[2];
    float weights[];
} box;
layout(std140, set = 0, binding = 2) uniform Settings {
    Pair pairs[2];
    vec3 v;
    bool flag;
};

layout(push_constant) uniform Parameters {
    uint rounds;
    uint mode;
};

uint calls = 1u;
shared uint s[gl_WorkGroupSize.x * gl_WorkGroupSize.y];

void bump(inout uint x) {
    calls += 1u;
    x += calls;
}

void main() {
    uint i = gl_LocalInvocationIndex;
    const uint MOST = 2u;
    uint mine[2] = uint[](i, r[i]);
    for (uint k = 0u;; ++k) {
        if (k >= MOST && flag || k >= rounds) {
            break;
        }
        s[i] = mine[k & 1u];
        barrier();
        if ((i & 1u) == mode) {
            bump(mine[1]);
        } else {
            mine[0] += s[7u - i];
        }
        barrier();
        if (k == 0u) {
            continue;
        }
        bump(mine[0]);
        barrier();
    }
    if (mode == 1u) {
        barrier();
        vec4 c = box.colours[1];
        c.zw = c.xy * 2.0;
        c.x += float(calls);
        atomicAdd(box.total, uint(c.z));
        mine[1] += uint(dot(c, vec4(pairs[1].a, v.xy))) + pairs[0].n;
    } else {
        barrier();
    }
    uint turns = 0u;
    do {
        s[i] = mine[0] + turns;
        barrier();
        mine[0] += s[(i + 1u) & 7u] & 15u;
        barrier();
        ++turns;
    } while (!(turns >= rounds));
    r[i] = mine[0] * 100u + mine[1] + uint(box.weights.length());
}
