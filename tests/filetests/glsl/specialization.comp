#version 450
layout(local_size_x_id = 0, local_size_y = 1) in;
layout(constant_id = 1) const uint TILE = 16;
layout(constant_id = 2) const bool FAST = true;
const uint DOUBLE = TILE * 2u;
const bool BOTH = FAST && TILE > 4u;
const int FIXED = true || false ? 3 : 4;
layout(std430, binding = 0) buffer Data { uint v[]; };
shared uint tile[FIXED > 2 ? 8 : 4];
void main() {
    const uint half_tile = TILE > 8u ? TILE / 2u : 1u;
    if (FAST) v[0] = half_tile;
    if (TILE == 16u && gl_LocalInvocationIndex < DOUBLE) v[1] = 2u;
    if (gl_WorkGroupSize.x > 4u) v[2] = 3u;
    if (1 < 2) v[3] = 4u;
    tile[0] = v[4];
    const bool live = v[4] > 1u;
    if (BOTH || live) v[5] = tile[0];
}
// decision: D1 initialiser "FAST && TILE > 4u" conditions=2 const=specialization unmarked
// decision: D2 ternary "true || false" conditions=2 const=constant unmarked
// decision: D3 ternary "FIXED > 2" conditions=1 const=constant unmarked
// decision: D4 ternary "TILE > 8u" conditions=1 const=specialization
// decision: D5 if "FAST" conditions=1 const=specialization
// decision: D6 if "TILE == 16u && gl_LocalInvocationIndex < DOUBLE" conditions=2
// decision: D7 if "gl_WorkGroupSize.x > 4u" conditions=1 const=specialization
// decision: D8 if "1 < 2" conditions=1 const=constant
// decision: D9 initialiser "v[4] > 1u" conditions=1
// decision: D10 if "BOTH || live" conditions=2
