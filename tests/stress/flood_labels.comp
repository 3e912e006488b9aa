#version 450
// Connected components by label propagation inside a workgroup.
// groups: 1 1 1
// buffer: 0 uint 64 random 211 0 1
// buffer: 1 uint 64 zero
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer Mask { uint mask[]; };
layout(std430, binding = 1) writeonly buffer Labels { uint label[]; };
shared uint label_of[64];
shared uint again;
void main() {
    ivec2 p = ivec2(gl_LocalInvocationID.xy);
    uint me = gl_LocalInvocationIndex;
    bool set = mask[me] == 1u;
    label_of[me] = set ? me + 1u : 0u;
    bool going = true;
    for (int round = 0; round < 40 && going; ++round) {
        if (me == 0u) again = 0u;
        barrier();
        uint mine = label_of[me], best = mine;
        for (int d = 0; d < 4; ++d) {
            ivec2 q = p + ivec2(d == 0 ? 1 : d == 1 ? -1 : 0, d == 2 ? 1 : d == 3 ? -1 : 0);
            if (any(lessThan(q, ivec2(0))) || any(greaterThan(q, ivec2(7)))) continue;
            uint theirs = label_of[q.y * 8 + q.x];
            if (set && theirs != 0u && theirs < best) best = theirs;
        }
        barrier();
        if (best != mine) { label_of[me] = best; atomicOr(again, 1u); }
        barrier();
        going = again != 0u;
        barrier();
    }
    label[me] = label_of[me];
}
