#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_swizzle : enable
#include "include/boolean_forms.glsl"
// policy: control-flow
// decision: D1 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D2 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D3 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D4 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D5 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D6 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D7 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D8 ternary "a ? b : v[8] > 8" conditions=1 file=include/boolean_forms.glsl
// decision: D9 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D10 if "a && (b ? v[9] > 9 : v[10] > 10)" conditions=2 file=include/boolean_forms.glsl
// decision: D11 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D12 if "a ? b : r" conditions=1 file=include/boolean_forms.glsl
// decision: D13 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D14 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D15 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D16 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D17 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D18 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D19 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D20 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D21 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D22 while "a == r" conditions=1 file=include/boolean_forms.glsl
// decision: D23 do-while "b != r" conditions=1 file=include/boolean_forms.glsl
// decision: D24 for "(i < 2) == a" conditions=1 file=include/boolean_forms.glsl
// decision: D25 ternary "a == b" conditions=1 file=include/boolean_forms.glsl
// decision: D26 ternary "v[44] > 44" conditions=1 file=include/boolean_forms.glsl
// decision: D27 ternary "v[45] > 45" conditions=1 file=include/boolean_forms.glsl
// decision: D28 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D29 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D30 if "a && (v[47]++, b)" conditions=2 file=include/boolean_forms.glsl
// decision: D31 if "a || (v[47]++, a && b)" conditions=2 file=include/boolean_forms.glsl
// decision: D32 ternary "isinf(same(x[0]))" conditions=1 file=include/boolean_forms.glsl
// switch: W1 "a == b ? 1 : int(b != r)" case 1:|no label matches
