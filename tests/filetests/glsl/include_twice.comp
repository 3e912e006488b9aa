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
