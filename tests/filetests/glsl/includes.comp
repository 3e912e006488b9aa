#version 450
#extension GL_GOOGLE_include_directive : require
#include "include/shared.glsl"
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    if (in_band(v[0]) || v[1] == 0) v[2] = 1;
}
// decision: D1 return "x < 9" conditions=1 file=include/nested.glsl
// decision: D2 return "x > LOW && below(x)" conditions=2 file=include/shared.glsl
// decision: D3 if "in_band(v[0]) || v[1] == 0" conditions=2
