#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
// Half-precision accumulation with overflow guards and a wide fallback.
// groups: 1 1 1
// buffer: 0 float16 256 random 271 -8 8
// buffer: 1 float 16 zero
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer In { f16vec4 source[]; };
layout(std430, binding = 1) writeonly buffer Out { float target[]; };
void main() {
    uint me = gl_GlobalInvocationID.x;
    float16_t narrow = 0.0hf;
    float wide = 0.0;
    bool use_wide = false;
    for (uint i = 0u; i < 4u; ++i) {
        f16vec4 x = source[me * 4u + i];
        float16_t s = x.x * x.y + x.z * x.w;
        wide += float(s);
        if (use_wide || s > 40.0hf || s < -40.0hf) { use_wide = true; continue; }
        narrow += s;
    }
    target[me] = use_wide && abs(wide) > 1.0 ? wide : float(narrow);
}
