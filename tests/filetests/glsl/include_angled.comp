#version 450
#extension GL_GOOGLE_include_directive : enable
// include: include
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#include <deep/outer.glsl>
#  include   <deep/outer.glsl>   // the guard leaves nothing
void main() {
    if (outer(v[0])) v[1] = DEPTH;
}
