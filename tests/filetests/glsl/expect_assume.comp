#version 460
#extension GL_EXT_expect_assume : enable
#extension GL_EXT_integer_dot_product : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_atomic_float : enable
#extension GL_EXT_shader_realtime_clock : enable
#extension GL_ARB_shader_clock : enable
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
layout(std430, binding = 1) buffer Floats { float f[]; };
void main() {
    assumeEXT(v[0] > 0);
    bool likely = expectEXT(v[1] > 2, true);
    if (expectEXT(v[2] == 3 && v[3] < 4, false)) v[4] = 1;
    if (dotPacked4x8EXT(v[5], v[6]) > 3 || dotEXT(i8vec4(1), i8vec4(2)) == 8) v[7] = 1;
    if (atomicAdd(f[0], 1.0) > 2.0) v[8] = int(likely);
    uvec2 now = clockRealtime2x32EXT();
    v[9] = now.x > 3u ? 1 : 0;
}
// decision: D1 argument "v[0] > 0" conditions=1
// decision: D2 initialiser "expectEXT(v[1] > 2, true)" conditions=1
// decision: D3 argument "v[1] > 2" conditions=1
// decision: D4 if "expectEXT(v[2] == 3 && v[3] < 4, false)" conditions=1
// decision: D5 argument "v[2] == 3 && v[3] < 4" conditions=2
// decision: D6 if "dotPacked4x8EXT(v[5], v[6]) > 3 || dotEXT(i8vec4(1), i8vec4(2)) == 8" conditions=2
// decision: D7 if "atomicAdd(f[0], 1.0) > 2.0" conditions=1
// decision: D8 argument "likely" conditions=1
// decision: D9 ternary "now.x > 3u" conditions=1
