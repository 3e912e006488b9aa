#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable
// define: MODE=3
// define: FAST=
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#if MODE == 1 || !defined(FAST)
#error not this one
#elif (MODE & 1) && defined FAST && VULKAN >= 100
#  define PICK(a) ((a) > MODE)
#elif 1 / 0
#else
broken text &&
#endif
#ifdef GL_core_profile
#ifndef NOT_THERE
#undef FAST
#endif
#endif
void main() {
#if 0
    if (v[0] > 1 && v[1] > 2) { /* never
    */ }
#endif
#if __VERSION__ >= 450 && defined(GL_EXT_shader_explicit_arithmetic_types_int64)
    int64_t big = 1L << 40;
    if (PICK(v[0])) v[1] = __LINE__ + int(big >> 38);
#endif
#ifdef FAST
    if (true) v[2] = 1;
#endif
}
// decision: D1 if "(a) > MODE" conditions=1 via=PICK
