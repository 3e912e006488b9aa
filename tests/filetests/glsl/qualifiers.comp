#version 460
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_nontemporal_keyword : enable
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 1 + 1) restrict buffer Data { int v[]; };
layout(std430, binding = 3) workgroupcoherent readonly buffer In { highp float x[]; } data_in;
layout(std430, binding = 4) nonprivate writeonly buffer Wo { float y[]; };
layout(binding = 5, r32ui) uniform restrict uimage2D img;
layout(binding = 6) uniform sampler2D pictures[2];
layout(binding = 7) uniform texture2D tex; layout(binding = 8) uniform sampler smp;
float scaled(const highp in float a, inout lowp int b, out mediump int c) { c = b > 2 ? 1 : 0; b++; return a * 2.0; }
void main() {
    precise const float one = scaled(data_in.x[0], v[0], v[1]);
    precise vec2 p = vec2(one);
    if (texture(sampler2D(tex, smp), p).x > 0.5 || textureLod(pictures[v[2] > 0 ? 1 : 0], p, 0.0).y < 0.1) y[0] = one;
    if (imageLoad(img, ivec2(v[3] > 1 ? 1 : 0, 2)).x == 3u) imageStore(img, ivec2(0), uvec4(v[4] > 0));
    int old = atomicAdd(v[5], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    v[6] = old > 3 ? 1 : 2;
}
// decision: D1 ternary "b > 2" conditions=1
// decision: D2 if "texture(sampler2D(tex, smp), p).x > 0.5 || textureLod(pictures[v[2] > 0 ? 1 : 0], p, 0.0).y < 0.1" conditions=2
// decision: D3 ternary "v[2] > 0" conditions=1
// decision: D4 if "imageLoad(img, ivec2(v[3] > 1 ? 1 : 0, 2)).x == 3u" conditions=1
// decision: D5 ternary "v[3] > 1" conditions=1
// decision: D6 argument "v[4] > 0" conditions=1
// decision: D7 ternary "old > 3" conditions=1
