#version 450
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(local_size_x = 4) in;
layout(local_size_y = 2, local_size_z = 1) in;
layout(constant_id = 2) const bool FAST = true;
layout(constant_id = 3) const int N = 4;
const bool BOTH = FAST && N > 2;
layout(std430, binding = 0) buffer Data { int v[]; };
shared int tile[gl_WorkGroupSize.x * 2];
void main() {
    if (gl_WorkGroupSize.x > 2 && FAST) tile[gl_LocalInvocationIndex] = 1;
    if (BOTH || v[0] > N) v[1] = tile[0];
    for (int i = 0; i < N; ++i) v[i] = FAST ? i : -i;
}
// decision: D1 initialiser "FAST && N > 2" conditions=2 const=specialization unmarked
// decision: D2 if "gl_WorkGroupSize.x > 2 && FAST" conditions=2 const=specialization
// decision: D3 if "BOTH || v[0] > N" conditions=2
// decision: D4 for "i < N" conditions=1
// decision: D5 ternary "FAST" conditions=1 const=specialization
