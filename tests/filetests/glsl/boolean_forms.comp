#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_swizzle : enable
#include "include/boolean_forms.glsl"
// decision: D1 return "n > 0" conditions=1 file=include/boolean_forms.glsl
// decision: D2 return "n > 0.0" conditions=1 file=include/boolean_forms.glsl
// decision: D3 return "n" conditions=1 file=include/boolean_forms.glsl
// decision: D4 argument "flag" conditions=1 file=include/boolean_forms.glsl
// decision: D5 assignment "!flag" conditions=1 file=include/boolean_forms.glsl
// decision: D6 return "a ? v[1] > 1 : v[2] > 2" conditions=1 file=include/boolean_forms.glsl
// decision: D7 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D8 expression "v[1] > 1" conditions=1 file=include/boolean_forms.glsl
// decision: D9 expression "v[2] > 2" conditions=1 file=include/boolean_forms.glsl
// decision: D10 return "a == (v[3] > 3)" conditions=1 file=include/boolean_forms.glsl
// decision: D11 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D12 expression "v[3] > 3" conditions=1 file=include/boolean_forms.glsl
// decision: D13 initialiser "a ? v[4] > 4 : v[5] > 5" conditions=1 file=include/boolean_forms.glsl
// decision: D14 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D15 expression "v[4] > 4" conditions=1 file=include/boolean_forms.glsl
// decision: D16 expression "v[5] > 5" conditions=1 file=include/boolean_forms.glsl
// decision: D17 assignment "a ? b : true" conditions=1 file=include/boolean_forms.glsl
// decision: D18 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D19 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D20 assignment "a ? (b ? v[6] > 6 : false) : !b" conditions=1 file=include/boolean_forms.glsl
// decision: D21 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D22 expression "b ? v[6] > 6 : false" conditions=1 file=include/boolean_forms.glsl
// decision: D23 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D24 expression "v[6] > 6" conditions=1 file=include/boolean_forms.glsl
// decision: D25 expression "!b" conditions=1 file=include/boolean_forms.glsl
// decision: D26 argument "a ? v[7] > 7 : b" conditions=1 file=include/boolean_forms.glsl
// decision: D27 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D28 expression "v[7] > 7" conditions=1 file=include/boolean_forms.glsl
// decision: D29 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D30 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D31 ternary "a ? b : v[8] > 8" conditions=1 file=include/boolean_forms.glsl
// decision: D32 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D33 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D34 expression "v[8] > 8" conditions=1 file=include/boolean_forms.glsl
// decision: D35 if "a && (b ? v[9] > 9 : v[10] > 10)" conditions=2 file=include/boolean_forms.glsl
// decision: D36 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D37 expression "v[9] > 9" conditions=1 file=include/boolean_forms.glsl
// decision: D38 expression "v[10] > 10" conditions=1 file=include/boolean_forms.glsl
// decision: D39 if "a ? b : r" conditions=1 file=include/boolean_forms.glsl
// decision: D40 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D41 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D42 expression "r" conditions=1 file=include/boolean_forms.glsl
// decision: D43 assignment "(a ? b : r).x" conditions=1 file=include/boolean_forms.glsl
// decision: D44 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D45 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D46 expression "r" conditions=1 file=include/boolean_forms.glsl
// decision: D47 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D48 argument "v[11] > 11" conditions=1 file=include/boolean_forms.glsl
// decision: D49 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D50 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D51 argument "true" conditions=1 const=constant file=include/boolean_forms.glsl
// decision: D52 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D53 argument "false" conditions=1 const=constant file=include/boolean_forms.glsl
// decision: D54 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D55 argument "v[12] > 12" conditions=1 file=include/boolean_forms.glsl
// decision: D56 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D57 argument "a ? b : v[13] > 13" conditions=1 file=include/boolean_forms.glsl
// decision: D58 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D59 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D60 expression "v[13] > 13" conditions=1 file=include/boolean_forms.glsl
// decision: D61 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D62 argument "a ? v[14] > 14 : b" conditions=1 file=include/boolean_forms.glsl
// decision: D63 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D64 expression "v[14] > 14" conditions=1 file=include/boolean_forms.glsl
// decision: D65 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D66 argument "v[15] == 15" conditions=1 file=include/boolean_forms.glsl
// decision: D67 initialiser "b ? a : v[16] > 16" conditions=1 file=include/boolean_forms.glsl
// decision: D68 ternary "b" conditions=1 file=include/boolean_forms.glsl
// decision: D69 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D70 expression "v[16] > 16" conditions=1 file=include/boolean_forms.glsl
// decision: D71 initialiser "false" conditions=1 const=constant file=include/boolean_forms.glsl
// decision: D72 initialiser "(v[20] > 20) == (v[21] > 21)" conditions=1 file=include/boolean_forms.glsl
// decision: D73 expression "v[20] > 20" conditions=1 file=include/boolean_forms.glsl
// decision: D74 expression "v[21] > 21" conditions=1 file=include/boolean_forms.glsl
// decision: D75 assignment "a == b" conditions=1 file=include/boolean_forms.glsl
// decision: D76 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D77 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D78 assignment "a != b == (v[22] > 22)" conditions=1 file=include/boolean_forms.glsl
// decision: D79 expression "a != b" conditions=1 file=include/boolean_forms.glsl
// decision: D80 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D81 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D82 expression "v[22] > 22" conditions=1 file=include/boolean_forms.glsl
// decision: D83 assignment "v[23] == v[24]" conditions=1 file=include/boolean_forms.glsl
// decision: D84 assignment "true == a || a != false" conditions=2 file=include/boolean_forms.glsl
// decision: D85 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D86 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D87 assignment "(a == b) == (b == a)" conditions=1 file=include/boolean_forms.glsl
// decision: D88 expression "a == b" conditions=1 file=include/boolean_forms.glsl
// decision: D89 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D90 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D91 expression "b == a" conditions=1 file=include/boolean_forms.glsl
// decision: D92 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D93 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D94 assignment "v[25] < 25 == v[26] < 26" conditions=1 file=include/boolean_forms.glsl
// decision: D95 expression "v[25] < 25" conditions=1 file=include/boolean_forms.glsl
// decision: D96 expression "v[26] < 26" conditions=1 file=include/boolean_forms.glsl
// decision: D97 argument "a == (b && v[27] > 27)" conditions=1 file=include/boolean_forms.glsl
// decision: D98 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D99 expression "b && v[27] > 27" conditions=2 file=include/boolean_forms.glsl
// decision: D100 argument "!a == !b" conditions=1 file=include/boolean_forms.glsl
// decision: D101 expression "!a" conditions=1 file=include/boolean_forms.glsl
// decision: D102 expression "!b" conditions=1 file=include/boolean_forms.glsl
// decision: D103 assignment "isnan(x[0]) == isinf(x[1] * 2.0)" conditions=1 file=include/boolean_forms.glsl
// decision: D104 expression "isnan(x[0])" conditions=1 file=include/boolean_forms.glsl
// decision: D105 expression "isinf(x[1] * 2.0)" conditions=1 file=include/boolean_forms.glsl
// decision: D106 assignment "any(greaterThan(vec2(x[2]), vec2(x[3]))) != bvec2(a, b).y" conditions=1 file=include/boolean_forms.glsl
// decision: D107 expression "any(greaterThan(vec2(x[2]), vec2(x[3])))" conditions=1 file=include/boolean_forms.glsl
// decision: D108 expression "bvec2(a, b).y" conditions=1 file=include/boolean_forms.glsl
// decision: D109 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D110 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D111 assignment "of_number(1) == of_number(x[4] + 1.0)" conditions=1 file=include/boolean_forms.glsl
// decision: D112 expression "of_number(1)" conditions=1 file=include/boolean_forms.glsl
// decision: D113 expression "of_number(x[4] + 1.0)" conditions=1 file=include/boolean_forms.glsl
// decision: D114 assignment "same(a) == same(b)" conditions=1 file=include/boolean_forms.glsl
// decision: D115 expression "same(a)" conditions=1 file=include/boolean_forms.glsl
// decision: D116 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D117 expression "same(b)" conditions=1 file=include/boolean_forms.glsl
// decision: D118 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D119 assignment "(r = a) != (b = r)" conditions=1 file=include/boolean_forms.glsl
// decision: D120 expression "r = a" conditions=1 file=include/boolean_forms.glsl
// decision: D121 assignment "a" conditions=1 file=include/boolean_forms.glsl
// decision: D122 expression "b = r" conditions=1 file=include/boolean_forms.glsl
// decision: D123 assignment "r" conditions=1 file=include/boolean_forms.glsl
// decision: D124 assignment "bvec2(a) == bvec2(v[28] > 28, b)" conditions=1 file=include/boolean_forms.glsl
// decision: D125 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D126 argument "v[28] > 28" conditions=1 file=include/boolean_forms.glsl
// decision: D127 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D128 assignment "equal(ivec2(v[29], v[30]), ivec2(1)).x == equal(bvec2(a), bvec2(b))[0]" conditions=1 file=include/boolean_forms.glsl
// decision: D129 expression "equal(ivec2(v[29], v[30]), ivec2(1)).x" conditions=1 file=include/boolean_forms.glsl
// decision: D130 expression "equal(bvec2(a), bvec2(b))[0]" conditions=1 file=include/boolean_forms.glsl
// decision: D131 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D132 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D133 while "a == r" conditions=1 file=include/boolean_forms.glsl
// decision: D134 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D135 expression "r" conditions=1 file=include/boolean_forms.glsl
// decision: D136 assignment "!r" conditions=1 file=include/boolean_forms.glsl
// decision: D137 assignment "!r" conditions=1 file=include/boolean_forms.glsl
// decision: D138 do-while "b != r" conditions=1 file=include/boolean_forms.glsl
// decision: D139 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D140 expression "r" conditions=1 file=include/boolean_forms.glsl
// decision: D141 for "(i < 2) == a" conditions=1 file=include/boolean_forms.glsl
// decision: D142 expression "i < 2" conditions=1 file=include/boolean_forms.glsl
// decision: D143 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D144 expression "b == r" conditions=1 file=include/boolean_forms.glsl
// decision: D145 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D146 expression "r" conditions=1 file=include/boolean_forms.glsl
// decision: D147 ternary "a == b" conditions=1 file=include/boolean_forms.glsl
// decision: D148 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D149 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D150 argument "b != r" conditions=1 file=include/boolean_forms.glsl
// decision: D151 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D152 expression "r" conditions=1 file=include/boolean_forms.glsl
// decision: D153 argument "v[40] > 40" conditions=1 file=include/boolean_forms.glsl
// decision: D154 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D155 argument "v[41] > 41" conditions=1 file=include/boolean_forms.glsl
// decision: D156 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D157 argument "v[42] > 42" conditions=1 file=include/boolean_forms.glsl
// decision: D158 expression "v[43] > 43" conditions=1 file=include/boolean_forms.glsl
// decision: D159 ternary "v[44] > 44" conditions=1 file=include/boolean_forms.glsl
// decision: D160 expression "v[43] > 43" conditions=1 file=include/boolean_forms.glsl
// decision: D161 expression "a == b" conditions=1 file=include/boolean_forms.glsl
// decision: D162 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D163 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D164 ternary "v[45] > 45" conditions=1 file=include/boolean_forms.glsl
// decision: D165 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D166 ternary "a" conditions=1 file=include/boolean_forms.glsl
// decision: D167 assignment "a" conditions=1 file=include/boolean_forms.glsl
// decision: D168 assignment "v[46] > 46" conditions=1 file=include/boolean_forms.glsl
// decision: D169 initialiser "v[48] > 48" conditions=1 file=include/boolean_forms.glsl
// decision: D170 if "a && (v[47]++, b)" conditions=2 file=include/boolean_forms.glsl
// decision: D171 if "a || (v[47]++, a && b)" conditions=2 file=include/boolean_forms.glsl
// decision: D172 expression "a && b" conditions=2 file=include/boolean_forms.glsl
// decision: D173 argument "v[49] > 49" conditions=1 file=include/boolean_forms.glsl
// decision: D174 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D175 argument "v[50] > 50" conditions=1 file=include/boolean_forms.glsl
// decision: D176 assignment "holder.pair.left == holder.pair.right" conditions=1 file=include/boolean_forms.glsl
// decision: D177 expression "holder.pair.left" conditions=1 file=include/boolean_forms.glsl
// decision: D178 expression "holder.pair.right" conditions=1 file=include/boolean_forms.glsl
// decision: D179 assignment "not(bvec2(a, v[51] > 51)).y" conditions=1 file=include/boolean_forms.glsl
// decision: D180 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D181 argument "v[51] > 51" conditions=1 file=include/boolean_forms.glsl
// decision: D182 assignment "mix(a, b, v[52] > 52)" conditions=1 file=include/boolean_forms.glsl
// decision: D183 argument "a" conditions=1 file=include/boolean_forms.glsl
// decision: D184 argument "b" conditions=1 file=include/boolean_forms.glsl
// decision: D185 argument "v[52] > 52" conditions=1 file=include/boolean_forms.glsl
// decision: D186 argument "isnan(x[0])" conditions=1 file=include/boolean_forms.glsl
// decision: D187 ternary "isinf(same(x[0]))" conditions=1 file=include/boolean_forms.glsl
// decision: D188 assignment "v[53] > 53" conditions=1 file=include/boolean_forms.glsl
// decision: D189 expression "v[54] > 54" conditions=1 file=include/boolean_forms.glsl
// decision: D190 argument "!a" conditions=1 file=include/boolean_forms.glsl
// decision: D191 argument "a ^^ b" conditions=2 file=include/boolean_forms.glsl
// decision: D192 argument "a == b" conditions=1 file=include/boolean_forms.glsl
// decision: D193 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D194 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D195 assignment "!(a == b)" conditions=1 file=include/boolean_forms.glsl
// decision: D196 expression "a" conditions=1 file=include/boolean_forms.glsl
// decision: D197 expression "b" conditions=1 file=include/boolean_forms.glsl
// decision: D198 assignment "a" conditions=1 file=include/boolean_forms.glsl
// decision: D199 argument "v[60] > 60" conditions=1 file=include/boolean_forms.glsl
// decision: D200 argument "true" conditions=1 const=constant file=include/boolean_forms.glsl
// decision: D201 argument "v[61] == 61" conditions=1 file=include/boolean_forms.glsl
// decision: D202 argument "arm_of_return(false)" conditions=1 file=include/boolean_forms.glsl
// decision: D203 argument "false" conditions=1 const=constant file=include/boolean_forms.glsl
// decision: D204 argument "equality_of_return(v[62] > 62)" conditions=1 file=include/boolean_forms.glsl
// decision: D205 argument "v[62] > 62" conditions=1 file=include/boolean_forms.glsl
// decision: D206 argument "v[63] > 63 == true" conditions=1 file=include/boolean_forms.glsl
// decision: D207 expression "v[63] > 63" conditions=1 file=include/boolean_forms.glsl
// switch: W1 "a == b ? 1 : int(b != r)" case 1:|no label matches
