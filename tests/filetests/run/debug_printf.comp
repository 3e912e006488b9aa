#version 450
#extension GL_EXT_debug_printf : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// Lines stand by invocation, then in the order in which it printed them, whatever runs first.
//! groups 2 1 1
//! buffer 0 uint 7 0 5 1 0*4
//! expect 0 uint 7 0 5 1
//! print 0 0 0 @25 i = 0, x = 7
//! print 0 0 0 @27 loop 0 of   7|7  |0x7|+7|0007
//! print 0 0 0 @27 loop 1 of   7|7  |0x7|+7|0007
//! print 0 0 0 @29 v = 0, 0, 0 and 0.5000, -1.5000, 100% %s
//! print 1 0 0 @25 i = 1, x = 0
//! print 2 0 0 @25 i = 2, x = 5
//! print 2 0 0 @27 loop 0 of   5|5  |0x5|+5|0005
//! print 2 0 0 @29 v = 0, 0, 0 and 2.5000, -3.5000, 100% %s
//! print 3 0 0 @25 i = 3, x = 1
//! print 3 0 0 @30 wide 18446744073709551615 ffffffffffffffff -1 -2, 3 1.00e+00 1.5 1 %d
layout(local_size_x = 2) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint nothing; };
uint64_t all() { return ~uint64_t(0); }
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = r[i];
    debugPrintfEXT("i = %u, x = %d\n", i, x);
    for (uint n = 0u; n < x / 3u; n++) {
        debugPrintfEXT("loop %u of %3u|%-3u|%#x|%+d|%.4u\n", n, x, x, x, int(x), x);
    }
    if (x > 3u) debugPrintfEXT("v = %v3u and %1.4v2f, 100%% %s", gl_LocalInvocationID - gl_LocalInvocationID, vec2(i, -int(i) - 1) + vec2(0.5, -0.5));
    if (i == 3u) debugPrintfEXT("wide %lu %lx %d %v2d %.2e %g %d %d", all(), all(), int8_t(-1), i16vec2(-2, 3), 1.0lf, float16_t(1.5), x == 1u);
}
