#version 450
// Exclusive prefix sum of a workgroup with a saturation flag.
// groups: 2 1 1
// buffer: 0 uint 128 random 5 0 20
// buffer: 1 uint 4 zero
// buffer: 2 uint 128 zero
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { uint v[]; };
layout(std430, binding = 1) writeonly buffer Totals { uint totals[]; };
layout(std430, binding = 2) writeonly buffer Out { uint sum[]; };
shared uint sums[2][64];
void main() {
    uint me = gl_LocalInvocationID.x, at = gl_GlobalInvocationID.x, from = 0u;
    sums[0][me] = at < v.length() && me > 0u ? v[at - 1u] : 0u;
    barrier();
    for (uint reach = 1u; reach < 64u; reach *= 2u) {
        uint to = 1u - from;
        sums[to][me] = me >= reach ? sums[from][me] + sums[from][me - reach] : sums[from][me];
        from = to;
        barrier();
    }
    bool saturated = sums[from][me] > 500u;
    if (me == 63u && !saturated || me == 0u && saturated) totals[gl_WorkGroupID.x] = sums[from][me];
    sum[at] = saturated ? 500u : sums[from][me];
}
