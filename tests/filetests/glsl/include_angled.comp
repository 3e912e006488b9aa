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
// decision: D1 return "x == DEPTH" conditions=1 file=include/deep/inner.glsl
// decision: D2 return "x < 9" conditions=1 file=include/nested.glsl
// decision: D3 return "x > LOW && below(x)" conditions=2 file=include/shared.glsl
// decision: D4 return "inner(x) || in_band(x + DEPTH)" conditions=2 file=include/deep/outer.glsl
// decision: D5 if "outer(v[0])" conditions=1
