#version 460
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_realtime_clock : enable
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
spirv_instruction(extensions = ["SPV_AMD_shader_trinary_minmax"], set = "SPV_AMD_shader_trinary_minmax", id = 3)
int least(int x, int y, int z);
spirv_instruction(id = 200) int negated(int x);
spirv_instruction(set = "GLSL.std.450", id = 79) vec2 smallest(vec2 i, vec2 j);
spirv_instruction(capabilities = [5055], extensions = ["SPV_KHR_shader_clock"], id = 5056) uvec2 clock(uint scope);
void main() {
    if (least(v[0], v[1], 3) > 1 && negated(v[2]) < 0) v[3] = 1;
    vec2 s = smallest(vec2(v[4] > 0 ? 1.0 : 2.0), vec2(1.5));
    uvec2 now = clock(3u);
    v[5] = int(s.x) + int(now.x & 0u);
}
// decision: D1 if "least(v[0], v[1], 3) > 1 && negated(v[2]) < 0" conditions=2
// decision: D2 ternary "v[4] > 0" conditions=1
