#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
// unreached: spare
int spare(int x) { if (x > 0) return 1; return 0; }
void main() { if (v[0] > 0) v[1] = 1; else { return; } }
// decision: D1 if "x > 0" conditions=1
// decision: D2 if "v[0] > 0" conditions=1
// exits: spare 2
// exits: main 2
