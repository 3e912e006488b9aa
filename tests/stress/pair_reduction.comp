#version 450
// Minimum with its index and a validity mask, in a tree; ties go to the lower index.
// groups: 2 1 1
// buffer: 0 int 120 random 291 -9 90
// buffer: 1 int 4 zero
// push: {"count": 117}
layout(local_size_x = 64) in;
struct Candidate { int value; uint index; bool valid; };
layout(std430, binding = 0) readonly buffer In { int source[]; };
layout(std430, binding = 1) writeonly buffer Out { int target[]; };
layout(push_constant) uniform P { uint count; };
shared Candidate tile[64];
bool wins(Candidate a, Candidate b) {
    if (a.valid != b.valid) return a.valid;
    return a.valid && (a.value < b.value || a.value == b.value && a.index < b.index);
}
void main() {
    uint me = gl_LocalInvocationIndex, at = gl_GlobalInvocationID.x;
    bool inside = at < count && at < source.length();
    tile[me] = Candidate(inside ? source[at] : 0, at, inside && source[min(at, source.length() - 1)] >= 0);
    barrier();
    for (uint reach = 32u; reach != 0u; reach >>= 1) {
        if (me < reach) if (wins(tile[me + reach], tile[me])) tile[me] = tile[me + reach];
        barrier();
    }
    if (me == 0u) { target[gl_WorkGroupID.x * 2u] = tile[0].valid ? tile[0].value : -1; target[gl_WorkGroupID.x * 2u + 1u] = int(tile[0].index); }
}
