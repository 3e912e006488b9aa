#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_control_flow_attributes2 : require
#extension GL_EXT_subgroup_uniform_control_flow : require
#extension GL_EXT_maximal_reconvergence : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
int helper(int x) { return x; }
void main() [[subgroup_uniform_control_flow, maximally_reconverges]] {
    [[loop]] for (int i = 0; i < 4; i++) v[i] = i;
    [[dependency_infinite]] for (int i = 0; i < 5; i++) v[i]++;
    [[dependency_length(4)]] while (v[0] < 6) v[0]++;
    [[unroll, min_iterations(1), max_iterations(8)]] do { v[1]++; } while (v[1] < 7);
    [[iteration_multiple(2), peel_count(1)]] for (int i = 0; i < 8; i++) v[2]++;
    [[unroll, partial_count(2)]] for (int i = 0; i < 9; i++) { v[3]++; }
    [[branch]] if (v[4] > 10) v[5] = 1; else [[flatten]] if (v[4] > 11) v[5] = 2;
    [ [ dont_flatten ] ] switch (v[6]) { case 0: v[7] = 1; break; default: v[7] = helper(2); }
    [[flatten]] switch (v[8]) { case 1: [[unroll]] for (int k = 0; k < 2; k++) { [[branch]] if (k == v[9]) break; } }
}
// decision: D1 for "i < 4" conditions=1
// decision: D2 for "i < 5" conditions=1
// decision: D3 while "v[0] < 6" conditions=1
// decision: D4 do-while "v[1] < 7" conditions=1
// decision: D5 for "i < 8" conditions=1
// decision: D6 for "i < 9" conditions=1
// decision: D7 if "v[4] > 10" conditions=1
// decision: D8 if "v[4] > 11" conditions=1
// decision: D9 for "k < 2" conditions=1
// decision: D10 if "k == v[9]" conditions=1
// switch: W1 "v[6]" case 0:|default:
// switch: W2 "v[8]" case 1:|no label matches
