#version 460
#extension GL_GOOGLE_include_directive : require
// One file twice, with other macros: two functions, two sets of obligations.
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define REDUCE_NAME sum
#define REDUCE_STEP(a, b) ((a) + (b))
#define REDUCE_STOP(x) ((x) < 0)
#include "include/reduce_once.glsl"
#define REDUCE_NAME largest
#define REDUCE_STEP(a, b) ((b) > (a) ? (b) : (a))
#define REDUCE_STOP(x) ((x) > 99 || (x) == -1)
#include "include/reduce_once.glsl"
void main() {
    v[0] = sum(4);
    v[1] = largest(4);
}
// decision: D1 for "i < count" conditions=1 file=include/reduce_once.glsl
// decision: D2 if "(x) < 0" conditions=1 via=REDUCE_STOP
// decision: D3 for "i < count" conditions=1 file=include/reduce_once.glsl
// decision: D4 if "(x) > 99 || (x) == -1" conditions=2 via=REDUCE_STOP
// decision: D5 ternary "(b) > (a)" conditions=1 via=REDUCE_STEP
